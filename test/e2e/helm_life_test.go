package e2e

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
)

// Control planes with an audit log, one for each test, since they go on at the
// same time. They behave as the oldest version that they can, and do not stream
// lists, as those before it did not, so that the client asks for lists and for watches.
var (
	chartAWS   = cluster.Shared{Options: cluster.Options{Audit: true, EmulatedVersion: "1.34", NoWatchLists: true}}
	chartGCE   = cluster.Shared{Options: cluster.Options{Audit: true, EmulatedVersion: "1.34", NoWatchLists: true}}
	chartAzure = cluster.Shared{Options: cluster.Options{Audit: true, EmulatedVersion: "1.34", NoWatchLists: true}}
)

// inPlaceOf returns the values for replacing the cloud's own controller, with an account that
// may read metrics.
func inPlaceOf(w *world) map[string]any {
	return map[string]any{
		"defaultClass": true, "loadBalancerClasses": []string{},
		"leaderElection": map[string]any{"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"},
		"metrics": map[string]any{"reader": map[string]any{"serviceAccounts": []any{
			map[string]any{"name": "prometheus", "namespace": w.ns},
		}}},
	}
}

// throughChart lets a world's controllers be Pods of a release.
func (w *world) throughChart() *release {
	w.t.Helper()
	_, err := w.Client.CoreV1().ServiceAccounts(w.ns).Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "prometheus"}}, metav1.CreateOptions{})
	w.must(err)
	r := w.install("berth", inPlaceOf(w))
	w.pod = func(flags ...string) *harness.Process {
		if len(flags) > 0 {
			w.t.Fatalf("flags %q: the chart alone says what the program is started with", flags)
		}
		return r.pod()
	}
	return r
}

// TestChartOnAWS, and the same on the other clouds: the chart is installed, its
// two Pods go through the lives of load balancers, and in the end they had exactly
// the rights that they needed.
func TestChartOnAWS(t *testing.T) {
	t.Parallel()
	t.Run("life", chartLife)
	t.Run("two releases", twoReleases)
	t.Run("beside the stock controller", besideStock)
	t.Run("policy of the API server", policyOfOlderServer)
}

func chartLife(t *testing.T) {
	w := startOn(t, &chartAWS, "aws", 3)
	r := w.throughChart()
	standby := w.controller()
	w.classicLife()
	w.networkLife()
	r.isWatched(standby)
	w.repeatsAnEvent(w.service("web"))
	r.leastRights()
	r.keepsSecret()
	r.comesAndGoes()
}

func TestChartOnGCE(t *testing.T) {
	t.Parallel()
	p := onGCE()
	p.plane = &chartGCE
	p.throughChart(t)
}

func TestChartOnAzure(t *testing.T) {
	t.Parallel()
	p := onAzure()
	p.plane = &chartAzure
	p.throughChart(t)
}

func (p *place) throughChart(t *testing.T) {
	var r *release
	p.install = func(w *world) {
		r = w.throughChart()
		r.isWatched(w.controller())
	}
	t.Run("life", func(t *testing.T) {
		p.life(t)
		r.w.repeatsAnEvent(r.w.one(p.kinds[0], 0))
		r.leastRights()
		r.keepsSecret()
	})
}

// repeatsAnEvent says the same to a user twice, which is another verb than once.
func (w *world) repeatsAnEvent(svc corev1.Service) {
	w.t.Helper()
	w.must(w.Create(w.t.Context(), svc))
	w.programmed(svc)
	for i := range int32(3) {
		w.update(svc.Name, setPorts(80, nodePort(0, 0), 8000+i, 0))
		w.programmed(svc)
	}
	w.remove(svc)
}

// isWatched asks for health as a kubelet does, and for metrics as Prometheus does.
func (r *release) isWatched(p *harness.Process) {
	w := r.w
	w.t.Helper()
	ask := func(path, token string) (int, string) {
		req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", r.ports[p], path), nil)
		w.must(err)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		res, err := client.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = res.Body.Close() }() // it was only read
		body, err := io.ReadAll(res.Body)
		w.must(err)
		return res.StatusCode, string(body)
	}
	container := r.template().Spec.Containers[0]
	w.eventually("it is alive", func() error {
		code, said := ask(container.LivenessProbe.HTTPGet.Path, "")
		return errors.Join(diffError("status", http.StatusOK, code), diffError("answer", "ok", said))
	})
	w.eventually("it is ready", func() error {
		code, _ := ask(container.ReadinessProbe.HTTPGet.Path, "")
		return diffError("status", http.StatusOK, code)
	})
	if code, _ := ask("/metrics", ""); code != http.StatusForbidden && code != http.StatusUnauthorized {
		w.t.Errorf("metrics without a token: status %d", code)
	}
	// What the API server says about a reader is remembered for a while, so its
	// rights must be there at the first question.
	w.eventually("metrics for who may read them", func() error {
		code, said := ask("/metrics", w.token(w.ns, "prometheus"))
		return errors.Join(diffError("status", http.StatusOK, code), requireWords(said, "leader_election_master_status"))
	})
}

// comesAndGoes upgrades and uninstalls: load balancers stay through both.
func (r *release) comesAndGoes() {
	w := r.w
	w.t.Helper()
	svc := w.create("stays")
	before := w.state()
	values := inPlaceOf(w)
	values["logLevel"], values["behaviour"] = 4, map[string]any{"policies": []string{"no-delete"}}
	values["policy"] = map[string]any{"rules": []any{map[string]any{"name": "inside", "namespaces": []string{w.ns}, "forbidInternet": true}}}
	r.upgrade(values)
	for old := range r.ports {
		w.must(old.Stop(limit))
	}
	p := w.controller()
	r.isWatched(p)
	if args := strings.Join(r.template().Spec.Containers[0].Args, " "); !strings.Contains(args, "--policy=no-delete") {
		w.t.Errorf("the upgrade is not in the arguments: %s", args)
	}
	w.asBefore(before)
	w.must(w.Create(w.t.Context(), w.service("public")))
	w.condition("public", status.TypeAccepted, metav1.ConditionFalse, status.ReasonPolicyRefused)
	w.must(w.Delete(w.t.Context(), w.service("public")))
	told := r.uninstall()
	if left := r.rights(); len(left) > 0 {
		w.t.Errorf("rights are left: %+v", left)
	}
	if strings.Contains(told, "kept") {
		w.t.Errorf("uninstalling kept something: %s", told)
	}
	w.asBefore(before)
	w.finalizers(svc.Name, stockFinalizer)
	if len(w.get(svc.Name).Status.LoadBalancer.Ingress) == 0 {
		w.t.Errorf("the address is gone: %s", harness.Conditions(w.get(svc.Name)))
	}
}

// twoReleases installs the chart twice: in place of the cloud's own controller,
// and for a class. Neither touches what is the other's.
func twoReleases(t *testing.T) {
	w := startOn(t, &chartAWS, "aws", 2)
	election := map[string]any{"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"}
	whole := w.install("default", map[string]any{"defaultClass": true, "loadBalancerClasses": []string{}, "leaderElection": election})
	classed := w.install("classed", map[string]any{"loadBalancerClasses": []string{mine}, "leaderElection": election})
	w.sideBySide(whole.pod, classed.pod)
	for _, r := range []struct {
		release *release
		other   string
	}{{whole, "special"}, {classed, "plain"}} {
		r.release.leavesAlone(r.other)
	}
	leases, err := w.Client.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
	w.must(err)
	for _, r := range []*release{whole, classed} {
		held := 0
		for _, l := range leases.Items {
			if l.Namespace == r.namespace {
				held += countHolders(l)
			}
		}
		if held != 1 {
			t.Errorf("%s: %d leases are held in %s", r.name, held, r.namespace)
		}
	}
}

// besideStock runs the stock service controller, with all its rights, beside a
// release for a class. Each serves its own; the stock one acts on the deletion of
// every Service that carries its finalizer, and the release still finishes what is
// its own.
func besideStock(t *testing.T) {
	w := startOn(t, &chartAWS, "aws", 2)
	before := w.state()
	w.plugin()
	r := w.install("classed", map[string]any{"loadBalancerClasses": []string{mine}})
	r.pod()
	plain := w.service("plain")
	w.must(w.Create(t.Context(), plain))
	special := w.create("special", setClass(mine))
	w.finalizers("special", ownFinalizer)
	w.becomes("plain", membersOf, inOrder(w.machines()...))
	w.finalizers("plain", stockFinalizer)

	w.update("special", func(svc *corev1.Service) { svc.Finalizers = append(svc.Finalizers, stockFinalizer) })
	w.remove(special)
	if list, err := w.balancers(); err != nil || len(list) != 1 {
		t.Errorf("want the load balancer of the other Service alone, got %+v, %v", list, err)
	}
	w.remove(plain)
	w.eventually("nothing is left", func() error { return diffError("cloud", before, w.state()) })
	r.leavesAlone("plain")
}

func countHolders(l coordinationv1.Lease) int {
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return 0
	}
	return 1
}

// leavesAlone looks into the audit log: nothing was written to a Service, told
// about it, or written outside the release's own namespace.
func (r *release) leavesAlone(service string) {
	w := r.w
	w.t.Helper()
	written := 0
	for _, q := range w.requests(r.user()) {
		switch q.Verb {
		case "create", "update", "patch", "delete":
		default:
			continue
		}
		switch q.ObjectRef.Resource {
		case "services":
			written++
			if q.ObjectRef.Name == service {
				w.t.Errorf("%s has written to %s: %s", r.name, service, q.URI)
			}
		case "events":
			if strings.Contains(string(q.RequestObject), `"name":"`+service+`"`) || strings.Contains(q.ObjectRef.Name, service+".") {
				w.t.Errorf("%s has told of %s: %s", r.name, service, q.RequestObject)
			}
		case "leases":
			if q.ObjectRef.Namespace != r.namespace {
				w.t.Errorf("%s has written a lease elsewhere: %s", r.name, q.URI)
			}
		}
	}
	if written == 0 {
		w.t.Errorf("%s has written to no Service: the test looks at nothing", r.name)
	}
}
