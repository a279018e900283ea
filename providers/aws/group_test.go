package aws_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// groupWorld is a process that serves Services on a simulated AWS.
type groupWorld struct {
	*testing.T
	s     podded
	r     *reconcile.Reconciler
	live  []*corev1.Service
	gates func(plan.Gate) time.Duration
}

// inWorld runs a test in a world of its own.
func inWorld(t *testing.T, body func(w *groupWorld)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		w := &groupWorld{T: t, s: freshController(t).(podded), gates: props.Pass}
		w.restart()
		body(w)
	})
}

// restart forgets everything and learns of the existing Services.
func (w *groupWorld) restart() {
	w.Helper()
	var jobs []reconcile.Job
	for _, svc := range w.live {
		jobs = append(jobs, w.job(svc))
	}
	w.r = props.Process(w, w.s.Open(w), w.s.Nodes(), jobs...)
}

func (w *groupWorld) job(svc *corev1.Service) reconcile.Job {
	return reconcile.Job{Service: svc, Slices: w.s.Slices(svc)}
}

// groupMember returns a Service of a group; a later one has a higher number.
func groupMember(n int, group string, ports ...int32) *corev1.Service {
	svc := controllerService(fmt.Sprintf("web-%d", n), nil, nil).Service
	svc.Name, svc.UID = fmt.Sprintf("web-%d", n), types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	svc.CreationTimestamp = metav1.NewTime(time.Unix(1_700_000_000+int64(n), 0))
	if group != "" {
		svc.Annotations[groupKey] = group
	}
	svc.Spec.Ports = nil
	for _, p := range ports {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", p), Protocol: corev1.ProtocolTCP, Port: p, NodePort: 30000 + int32(n)*100 + p%100})
	}
	return svc
}

// run reconciles a Service once, and writes the result to it.
func (w *groupWorld) run(svc *corev1.Service, release bool) reconcile.Result {
	w.Helper()
	job := w.job(svc)
	job.Release = release
	d, err := w.r.Draft(w.Context(), job)
	if err != nil {
		w.Fatal(err)
	}
	res := w.r.Run(w.Context(), d, w.gates)
	svc.Status.LoadBalancer.Ingress = res.Status.Ingress
	return res
}

// serve brings a Service to where nothing can be done for it any more.
func (w *groupWorld) serve(svc *corev1.Service) (last reconcile.Result) {
	w.Helper()
	if !slices.Contains(w.live, svc) {
		w.live = append(w.live, svc)
	}
	for range 12 {
		if last = w.run(svc, false); last.Err == nil && (last.Clean || len(last.Report.Results) == 0) {
			return last
		}
	}
	w.Fatalf("%s: %v, problems %v, held %v", svc.Name, last.Err, last.Draft.Problems, last.Draft.Plan.Blocked)
	return last
}

// good is serve for a Service that nothing blocks.
func (w *groupWorld) good(svc *corev1.Service) {
	w.Helper()
	if res := w.serve(svc); !res.Clean {
		w.Fatalf("%s: problems %v, held %v", svc.Name, res.Draft.Problems, res.Draft.Plan.Blocked)
	}
}

// release deletes a Service.
func (w *groupWorld) release(svc *corev1.Service) {
	w.Helper()
	w.live = slices.DeleteFunc(w.live, func(o *corev1.Service) bool { return o == svc })
	var last reconcile.Result
	for range 12 {
		if last = w.run(svc, true); last.Released {
			return
		}
	}
	w.Fatalf("%s: is not released: %v, have %v, results %v, held %v", svc.Name, last.Err, last.Draft.Have, last.Report.Results, last.Draft.Plan.Blocked)
}

// has lists what a new process finds of a Service, by key and identifier.
func (w *groupWorld) has(svc *corev1.Service) []string {
	w.Helper()
	r := reconcile.New(w.s.Open(w), reconcile.Options{})
	r.SetNodes(w.s.Nodes())
	d, err := r.Draft(w.Context(), w.job(svc))
	if err != nil {
		w.Fatal(err)
	}
	if len(d.Plan.Steps) > 0 {
		w.Errorf("%s: something is to do: %v", svc.Name, d.Plan.Steps)
	}
	var out []string
	for _, r := range d.Have.Resources {
		if r.Proof != stack.None && r.Proof != stack.Leftover {
			out = append(out, r.Key.String()+" "+r.ID)
		}
	}
	return out
}

func (w *groupWorld) state() string { return props.State(w, w.s.Control()) }

func hostOf(svc *corev1.Service) string {
	if len(svc.Status.LoadBalancer.Ingress) == 0 {
		return ""
	}
	return svc.Status.LoadBalancer.Ingress[0].Hostname
}

// TestGroupGoInAnyOrder: three Services share one load balancer. In whatever order they
// are deleted, in the process that served them or in another one, the remaining ones
// lose nothing, and with the last one everything is deleted.
func TestGroupGoInAnyOrder(t *testing.T) {
	setCredentials(t)
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, recreate := range []bool{false, true} {
			t.Run(fmt.Sprint(order, recreate), func(t *testing.T) {
				t.Parallel()
				inWorld(t, func(w *groupWorld) { goInOrder(w, order, recreate) })
			})
		}
	}
}

func goInOrder(w *groupWorld, order []int, recreate bool) {
	w.Helper()
	before := w.state()
	all := []*corev1.Service{groupMember(0, "front", 80), groupMember(1, "front", 443, 8443), groupMember(2, "front", 25)}
	for _, svc := range all {
		w.good(svc)
	}
	host := hostOf(all[0])
	for i, gone := range order {
		was := map[int][]string{}
		for _, left := range order[i+1:] {
			was[left] = w.has(all[left])
		}
		if recreate {
			w.restart()
		}
		w.release(all[gone])
		for _, left := range order[i+1:] {
			if diff := cmp.Diff(was[left], w.has(all[left])); diff != "" {
				w.Errorf("%s went, and %s lost something (-before +after):\n%s", all[gone].Name, all[left].Name, diff)
			}
			if w.good(all[left]); hostOf(all[left]) != host || host == "" {
				w.Errorf("%s went, and %s is at %q, not at %q", all[gone].Name, all[left].Name, hostOf(all[left]), host)
			}
		}
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		w.Errorf("something is left (-before +after):\n%s", diff)
	}
}

// TestGroupCrash: a process dies at any writing call with which a member joins or leaves.
// The member that stays loses nothing, and nothing is left of the other one.
func TestGroupCrash(t *testing.T) {
	setCredentials(t)
	for _, release := range []bool{false, true} {
		t.Run(fmt.Sprint("release ", release), func(t *testing.T) {
			t.Parallel()
			for k := 0; k < 12; k++ {
				inWorld(t, func(w *groupWorld) { dieInGroup(w, k, release) })
			}
		})
	}
}

func dieInGroup(w *groupWorld, k int, release bool) {
	w.Helper()
	before := w.state()
	stays, other := groupMember(1, "front", 80), groupMember(0, "front", 443)
	w.good(stays)
	if release {
		w.good(other)
	}
	was, host := w.has(stays), hostOf(stays)
	for _, f := range []sim.Fault{
		{WritesOnly: true, After: k, Count: 1, Kind: sim.FaultCutAfter, Status: 403, Code: "AccessDenied"},
		{WritesOnly: true, After: k + 1, Kind: sim.FaultError, Status: 403, Code: "AccessDenied"},
	} {
		if _, err := w.s.Control().Faults.Add(f); err != nil {
			w.Fatal(err)
		}
	}
	w.run(other, release)
	w.s.Control().Faults.Clear()
	w.live = []*corev1.Service{stays}
	if !release {
		w.live = append(w.live, other)
	}
	w.restart()
	if diff := cmp.Diff(was, w.has(stays)); diff != "" {
		w.Fatalf("died at writing call %d (-before +after):\n%s", k+1, diff)
	}
	if !release {
		if w.good(other); hostOf(other) != host {
			w.Errorf("died at writing call %d: %q, not %q", k+1, hostOf(other), host)
		}
	}
	w.release(other)
	if diff := cmp.Diff(was, w.has(stays)); diff != "" {
		w.Fatalf("died at writing call %d, released (-before +after):\n%s", k+1, diff)
	}
	w.release(stays)
	if diff := cmp.Diff(before, w.state()); diff != "" {
		w.Fatalf("died at writing call %d: something is left (-before +after):\n%s", k+1, diff)
	}
}
