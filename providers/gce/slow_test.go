package gce_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/gce/wire"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
)

// near is a simulated cloud without a network in between, so that time in a bubble
// passes while it works.
type near struct{ cloud *simgce.Cloud }

// RoundTrip implements http.RoundTripper.
func (n near) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	arrived := r.Clone(r.Context())
	if arrived.Body == nil {
		arrived.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	n.cloud.ServeHTTP(answer, arrived)
	return answer.Result(), r.Context().Err()
}

// slowCloud is a project with six nodes where every operation takes some time.
func slowCloud(t *testing.T, delay time.Duration) near {
	t.Helper()
	return nearCloud(t, 6, delay)
}

func nearCloud(t *testing.T, nodes int, delay time.Duration) near {
	t.Helper()
	cloud, err := simgce.New(simgce.Options{Seed: simgce.SeedOptions{Nodes: nodes}, Compute: compute.Options{QuotaFactor: 10, OperationDelay: delay}})
	if err != nil {
		t.Fatal(err)
	}
	return near{cloud}
}

// process starts a controller that knows the Services.
func (n near) process(t *testing.T, services ...*corev1.Service) *reconcile.Reconciler {
	t.Helper()
	entry := gce.Cloud()
	entry.Open = func(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
		return wire.OpenOver(ctx, c, env, n)
	}
	file := string(n.cloud.Seed.CloudConf("http://compute.test")) + cluster
	cloud, problems, err := providers.EntryOf(entry).Open(t.Context(), bytes.NewReader([]byte(file)), providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var jobs []reconcile.Job
	for _, svc := range services {
		jobs = append(jobs, reconcile.Job{Service: svc, NeverProvisioned: true})
	}
	return props.Process(t, cloud, props.Project(n.cloud.Seed.KubernetesNodes()), jobs...)
}

// numberedService returns the k-th of several Services.
func numberedService(k int, class string) *corev1.Service {
	svc := serviceCase("", class, nil).Service
	svc.Name, svc.UID = fmt.Sprintf("web-%d", k), types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", k))
	return svc
}

// reconcileFully reconciles a Service as the loop does until nothing is left to do, and
// returns the last result.
func reconcileFully(t *testing.T, r *reconcile.Reconciler, svc *corev1.Service, job reconcile.Job) reconcile.Result {
	t.Helper()
	for range 40 {
		job.Service = svc
		res, err := props.Work(t.Context(), r, job)
		if err != nil {
			t.Error(err)
			return res
		}
		svc.Status.LoadBalancer.Ingress = res.Status.Ingress
		svc.Finalizers = res.Status.Finalizers
		if res.Released || !job.Release && res.Clean {
			return res
		}
		job.NeverProvisioned = false
		time.Sleep(max(2*time.Second, res.Wait))
	}
	t.Errorf("%s: no end", svc.Name)
	return reconcile.Result{}
}

// TestSlowOperationsCostNothing: ten Services made at once make as many calls where
// operations take fifteen seconds as where they take none. Waits for operations are
// one for each writing call.
func TestSlowOperationsCostNothing(t *testing.T) {
	for _, class := range []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"} {
		t.Run(class, func(t *testing.T) {
			var calls, writes [2]int
			for i, delay := range []time.Duration{0, 15 * time.Second} {
				synctest.Test(t, func(t *testing.T) {
					n := slowCloud(t, delay)
					var services []*corev1.Service
					for k := range 10 {
						services = append(services, numberedService(k, class))
					}
					r := n.process(t)
					n.cloud.Journal.Reset()
					var all sync.WaitGroup
					for _, svc := range services {
						all.Go(func() { reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true}) })
					}
					all.Wait()
					for _, svc := range services {
						if next := r.NextRead(reconcile.OwnerOf(svc)); next < time.Minute {
							t.Errorf("operations of %v: %s is read again after %v", delay, svc.Name, next)
						}
					}
					time.Sleep(time.Minute) // what gathers calls ends
					waits := 0
					for op, count := range n.cloud.Journal.Counts() {
						if strings.HasSuffix(op, "Operations.wait") {
							waits += count
						} else {
							calls[i] += count
						}
					}
					writes[i] = n.cloud.Journal.Writes()
					if waits > writes[i] {
						t.Errorf("operations of %v: %d waits for %d writing calls", delay, waits, writes[i])
					}
				})
			}
			t.Logf("%d calls with operations of 15 s, %d without delay, %d of them writing", calls[1], calls[0], writes[0])
			if calls[1]*10 > calls[0]*11 || writes[1] > writes[0] {
				t.Errorf("%d calls, %d of them writing; without delay %d and %d", calls[1], writes[1], calls[0], writes[0])
			}
		})
	}
}

// TestHeldUntilReserved: where a change replaces the rule, the rule is deleted when its
// IP is reserved, and the reservation is deleted when the new rule exists: the
// operations of both decide, not what lists show. If the reservation fails late the rule
// stays, and if the new rule does, its IP stays reserved.
func TestHeldUntilReserved(t *testing.T) {
	for _, class := range []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"} {
		for _, failing := range []string{"", "addresses.insert", "forwardingRules.insert"} {
			t.Run(class+" "+failing, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := slowCloud(t, 12*time.Second)
					svc := serviceCase("web", class, nil).Service
					r := n.process(t)
					reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
					ip := svc.Status.LoadBalancer.Ingress[0].IP
					svc.Spec.Ports[1].Port, svc.Spec.SessionAffinity = 8443, corev1.ServiceAffinityClientIP
					n.cloud.Journal.Reset()
					if failing != "" {
						fault := sim.Fault{Kind: sim.FaultError, Status: http.StatusOK, Operation: failing, Code: "INTERNAL_ERROR", Count: 1}
						if _, err := n.cloud.Faults.Add(fault); err != nil {
							t.Fatal(err)
						}
					}
					reconcileFully(t, r, svc, reconcile.Job{})
					time.Sleep(time.Minute) // what gathers calls ends
					if got := svc.Status.LoadBalancer.Ingress; len(got) != 1 || got[0].IP != ip {
						t.Errorf("the address was %s and is %v", ip, got)
					}
					inOrder(t, n, 12*time.Second)
				})
			})
		}
	}
}

// inOrder fails if a rule was deleted before its address was reserved, or a reservation
// before the rule existed.
func inOrder(t *testing.T, n near, delay time.Duration) {
	t.Helper()
	var reserved, made time.Time
	for _, e := range n.cloud.Journal.Entries() {
		switch {
		case e.Operation == "addresses.insert" && e.Committed:
			reserved = e.Time.Add(delay)
		case e.Operation == "forwardingRules.insert" && e.Committed:
			made = e.Time.Add(delay)
		case e.Operation == "forwardingRules.delete" && (reserved.IsZero() || e.Time.Before(reserved)):
			t.Errorf("a rule goes at %s, its address is reserved at %s", e.Time, reserved)
		case e.Operation == "addresses.delete" && (made.IsZero() || e.Time.Before(made)):
			t.Errorf("an address goes at %s, its rule is made at %s", e.Time, made)
		}
	}
}
