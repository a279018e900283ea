package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// securePort is the secure port of a controller.
type securePort struct {
	t      *testing.T
	url    string
	client *http.Client
	token  string // token that the reader presents; empty: none
}

// securePortFlags returns the flags of a controller whose secure port needs no
// authentication.
func securePortFlags(t *testing.T) (*securePort, []string) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, number, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the certificate is made by the process under test
	p := &securePort{t: t, url: "https://127.0.0.1:" + number, client: &http.Client{Transport: transport, Timeout: 5 * time.Second}}
	return p, []string{"--secure-port=" + number, "--bind-address=127.0.0.1", "--authorization-always-allow-paths=/healthz,/readyz,/metrics,/debug/*"}
}

// get reads a path; status 0 is no answer.
func (p *securePort) get(path string) (status int, body string) {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// answers waits until a path answers a status and mentions the words.
func (p *securePort) answers(path string, want int, words ...string) {
	p.t.Helper()
	err := harness.Eventually(p.t.Context(), limit, func(context.Context) error {
		status, body := p.get(path)
		if status != want {
			return fmt.Errorf("%s: want %d, got %d: %s", path, want, status, body)
		}
		return requireWords(body, words...)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

var (
	sample = regexp.MustCompile(`(?m)^(berth_[a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+)$`)
	pair   = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

// series are the values of one metric by the labels that are asked for.
func (p *securePort) series(metric string, labels ...string) map[string]float64 {
	_, body := p.get("/metrics")
	out := map[string]float64{}
	for _, m := range sample.FindAllStringSubmatch(body, -1) {
		if m[1] != metric {
			continue
		}
		at := map[string]string{}
		for _, l := range pair.FindAllStringSubmatch(m[2], -1) {
			at[l[1]] = l[2]
		}
		var words []string
		for _, l := range labels {
			words = append(words, at[l])
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			p.t.Fatal(err)
		}
		out[strings.Join(words, " ")] += value
	}
	return out
}

// countCalls counts the calls in the simulator's journal as the metric does.
func countCalls(entries []sim.Entry) map[string]float64 {
	out := map[string]float64{}
	for _, e := range entries {
		code := e.Code
		switch {
		case e.Status == 0:
			code = "NoAnswer"
		case code == "" && e.Status < 400:
			code = "OK"
		case code == "":
			code = strconv.Itoa(e.Status)
		}
		if apis[e.Service] {
			out[e.Service+" "+e.Operation+" "+code]++
		}
	}
	return out
}

// apis are what calls are counted of; tokens and metadata are none.
var apis = map[string]bool{"ec2": true, "elb": true, "elbv2": true, "sts": true, "compute": true, "network": true, "resources": true, "arm": true}

// TestCallsAreCounted: what the metrics say of the calls is what the cloud has
// seen, for every cloud, with refusals and answers that were lost.
func TestCallsAreCounted(t *testing.T) {
	for cloud, write := range map[string]string{"aws": "AuthorizeSecurityGroupIngress", "gce": "firewalls.insert", "azure": "SecurityGroups.*"} {
		t.Run(cloud, func(t *testing.T) {
			w := startOn(t, &plane, cloud, 3)
			p, flags := securePortFlags(t)
			w.controller(flags...)
			code := map[string]string{"aws": "RequestLimitExceeded", "gce": "rateLimitExceeded", "azure": "TooManyRequests"}[cloud]
			w.arm(sim.Fault{Operation: write, WritesOnly: true, Kind: sim.FaultError, Status: 429, Count: 1, Code: code})
			w.create("first") // alone, so that no other fault meets its calls
			for _, f := range []sim.Fault{
				{Kind: sim.FaultError, Status: 503, After: 3, Count: 1},
				{Kind: sim.FaultCutBefore, After: 6, Count: 2},
				{WritesOnly: true, Kind: sim.FaultCutAfter, After: 4, Count: 1},
			} {
				w.must(w.Sim.Arm(t.Context(), f))
			}
			var services []corev1.Service
			for i := range 2 {
				services = append(services, w.service(fmt.Sprintf("counted-%d", i)))
			}
			w.must(w.Create(t.Context(), services...))
			const patience = 2 * limit // refusals cost pauses
			w.must(harness.Eventually(t.Context(), patience, w.Programmed(services...)))
			w.must(w.Delete(t.Context(), services[0]))
			w.must(harness.Eventually(t.Context(), patience, w.Gone(services[0])))
			w.settled(w.meter())
			w.eventually("metrics and journal", func() error {
				entries, err := w.Sim.Journal(t.Context(), 0)
				if err != nil {
					return err
				}
				return diffError("calls by metrics and by the cloud", countCalls(entries), p.series("berth_cloud_calls_total", "api", "operation", "code"))
			})
			throttles := 0.0
			for _, n := range p.series("berth_cloud_throttles_total", "operation") {
				throttles += n
			}
			if throttles != 1 {
				t.Errorf("want 1 throttled call, got %v", throttles)
			}
			w.countedSteps(p)
		})
	}
}

// countedSteps verifies the other metrics for two existing Services and one deleted Service.
func (w *world) countedSteps(p *securePort) {
	w.t.Helper()
	results := p.series("berth_reconcile_duration_seconds_count", "result")
	for _, want := range []string{"done", "released"} {
		if results[want] == 0 {
			w.t.Errorf("no run ended as %s: %v", want, results)
		}
	}
	steps := p.series("berth_steps_total", "action", "result")
	if steps["create done"] == 0 || steps["delete done"] == 0 {
		w.t.Errorf("steps: %v", steps)
	}
	if got := p.series("berth_services", "condition", "status", "reason"); got["Programmed True Programmed"] != 2 || got["Accepted True Accepted"] != 2 {
		w.t.Errorf("want 2 Services that are programmed, got %v", got)
	}
	if got := p.series("berth_queue_depth", "cause"); len(got) != 5 {
		w.t.Errorf("want the queue by 5 causes, got %v", got)
	}
	if got := slices.Collect(maps.Values(p.series("berth_build_info", "version"))); !slices.Equal(got, []float64{1}) {
		w.t.Errorf("build info: %v", got)
	}
	if got := p.series("berth_leading"); got[""] != 1 {
		w.t.Errorf("want a leader, got %v", got)
	}
}

// TestReady: a process is ready when the cloud has let it in and every Service is
// known; of two replicas one says that it stands by, and is ready as well.
func TestReady(t *testing.T) {
	w := startWorld(t, 3)
	w.must(w.Sim.Arm(t.Context(), sim.Fault{Kind: sim.FaultError, Status: 403, Code: "UnauthorizedOperation"}))
	p, flags := securePortFlags(t)
	w.controller(append(flags, electionFlags()...)...)
	p.answers("/readyz", http.StatusServiceUnavailable, "not ready: leader", "[-] cloud has not let us in: UnauthorizedOperation", "[+] caches", "[+] ledger")
	if got := p.series("berth_check_ok", "check"); got["cloud"] != 0 || got["caches"] != 1 || got["workers"] != 1 {
		t.Errorf("checks: %v", got)
	}
	w.must(w.Sim.Disarm(t.Context()))
	p.answers("/readyz", http.StatusOK, "ready: leader", "[+] cloud")
	p.answers("/healthz", http.StatusOK)
	second, flags := securePortFlags(t)
	w.controller(append(flags, electionFlags()...)...)
	second.answers("/readyz", http.StatusOK, "ready: standby", "[+] cloud")
	second.answers("/healthz", http.StatusOK)
	if got := second.series("berth_leading"); got[""] != 0 || len(got) != 1 {
		t.Errorf("want a standby, got %v", got)
	}
	w.dropLease()
}

// TestHealthOfStuckWorkers: a worker that does not come back makes /healthz fail.
func TestHealthOfStuckWorkers(t *testing.T) {
	w := startWorld(t, 3)
	p, flags := securePortFlags(t)
	w.controller(append(flags, "--stuck-after=1s")...)
	p.answers("/healthz", http.StatusOK)
	w.must(w.Sim.Arm(t.Context(), sim.Fault{Kind: sim.FaultLatency, Latency: 5 * time.Second, Count: 1}))
	w.must(w.Create(t.Context(), w.service("slow")))
	p.answers("/healthz", http.StatusInternalServerError, "[-]workers failed", "[+]ping ok")
	p.answers("/healthz", http.StatusOK)
}

// TestProfiles: profiles are off by default.
func TestProfiles(t *testing.T) {
	w := startWorld(t, 1)
	p, flags := securePortFlags(t)
	w.controller(flags...)
	p.answers("/healthz", http.StatusOK)
	p.answers("/debug/pprof/goroutine?debug=1", http.StatusNotFound)
	p, flags = securePortFlags(t)
	w.controller(append(flags, "--profiling")...)
	p.answers("/debug/pprof/goroutine?debug=1", http.StatusOK, "goroutine profile")
}

// TestDriftIsCounted: a resource that is deleted outside of the controller is found, and
// counted once.
func TestDriftIsCounted(t *testing.T) {
	w := startWorld(t, 3)
	p, flags := securePortFlags(t)
	w.controller(append(flags, "--drift-interval=3s")...)
	svc := w.create("drifting")
	w.eventually("a look that finds nothing", func() error {
		return atLeast(1, int(p.series("berth_drift_checks_total", "result")["none"]))
	})
	before := p.series("berth_drift_checks_total", "result")["found"]
	name := nameOf(w.get(svc.Name))
	_, err := w.aws.elb.DeleteLoadBalancer(t.Context(), &elb.DeleteLoadBalancerInput{LoadBalancerName: &name})
	w.must(err)
	w.eventually("drift", func() error {
		if got := p.series("berth_drift_checks_total", "result")["found"]; got != before+1 {
			return fmt.Errorf("want %v, got %v", before+1, got)
		}
		return nil
	})
	w.eventually("a new one", func() error {
		if svc := w.get(svc.Name); harness.Condition(svc, "berth-lb.io/Programmed").Status != metav1.ConditionTrue {
			return errors.New(harness.Conditions(svc))
		}
		_, err = w.balancer(svc.Name)
		return err
	})
}
