package gce_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// stage is what a Service without a class says at a time, and what it has then.
type stage struct {
	name        string
	annotations map[string]string
	finalizer   string   // "": none of the official ones
	parts       []string // kinds of resources that tell the kind of load balancer
}

func moveStages(ilb, netlb string) []stage {
	internal := map[string]string{"networking.gke.io/load-balancer-type": "Internal"}
	rbs := map[string]string{"cloud.google.com/l4-rbs": "enabled"}
	inside := stage{"internal", internal, ilb, []string{"backend-service", "internal-forwarding-rule"}}
	return []stage{
		{"external", nil, "", []string{"external-forwarding-rule", "target-pool"}},
		inside,
		{"opted in", rbs, netlb, []string{"backend-service", "external-forwarding-rule"}},
		inside,
		{"external again", nil, "", []string{"external-forwarding-rule", "target-pool"}},
	}
}

// mover walks a Service from stage to stage as the loop does: what it carries is
// what the last run said.
type mover struct {
	*testing.T
	s   subject
	svc *corev1.Service
}

func (m *mover) process() *reconcile.Reconciler {
	m.Helper()
	return props.Process(m, m.s.Open(m.T), m.s.Nodes(), reconcile.Job{Service: m.svc})
}

func (m *mover) work(r *reconcile.Reconciler, release bool) (reconcile.Result, error) {
	m.Helper()
	return props.Work(m.Context(), r, reconcile.Job{Service: m.svc, Release: release})
}

// converge runs until nothing is left to do, and puts on the Service what each run
// says: finalizers at once, and after a clean run none of those it does not name.
func (m *mover) converge(r *reconcile.Reconciler) {
	m.Helper()
	var last reconcile.Result
	for range 12 {
		res, err := m.work(r, false)
		if err != nil {
			m.Fatal(err)
		}
		last = res
		m.svc.Status.LoadBalancer.Ingress = res.Status.Ingress
		for _, f := range res.Status.Finalizers {
			if !slices.Contains(m.svc.Finalizers, f) {
				m.svc.Finalizers = append(m.svc.Finalizers, f)
			}
		}
		if res.Clean {
			m.svc.Finalizers = slices.DeleteFunc(m.svc.Finalizers, func(f string) bool {
				return slices.Contains(gce.Cloud().Outputs.Finalizers, f) && !slices.Contains(res.Status.Finalizers, f)
			})
			return
		}
		if res.Draft.Plan.AnyBlocked(plan.ByRefused) {
			time.Sleep(res.Wait) // in virtual time, until a refused replacement is tried again
		}
	}
	m.Fatalf("no end: %v, problems %v, held %v", last.Err, last.Draft.Problems, last.Draft.Plan.Blocked)
}

// arrived checks what there is, by a process that knows nothing.
func (m *mover) arrived(want stage) {
	m.Helper()
	if d := cmp.Diff(finalizerList(want.finalizer), m.svc.Finalizers, cmpopts.EquateEmpty()); d != "" {
		m.Errorf("%s: finalizers (-want +got)\n%s", want.name, d)
	}
	d, err := m.process().Draft(m.Context(), reconcile.Job{Service: m.svc})
	if err != nil {
		m.Fatal(err)
	}
	if !d.Plan.Empty() {
		m.Errorf("%s: a new process has %d steps to do", want.name, len(d.Plan.Steps))
	}
	var got []string
	for _, r := range d.Have.Resources {
		if k := string(r.Key.Kind); slices.Contains([]string{"backend-service", "external-forwarding-rule", "internal-forwarding-rule", "target-pool", "address"}, k) {
			got = append(got, k)
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(want.parts, got); d != "" {
		m.Errorf("%s: parts (-want +got)\n%s", want.name, d)
	}
}

// die runs a process whose writing calls come through up to the k-th only.
func (m *mover) die(k int) {
	m.Helper()
	r := m.process()
	_, err := m.s.Control().Faults.Add(sim.Fault{WritesOnly: true, After: k, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AccessDenied"})
	if err != nil {
		m.Fatal(err)
	}
	_, _ = m.work(r, false) // it is meant to fail
	m.s.Control().Faults.Clear()
}

// TestMoveBetweenSchemes: a Service without a class moves from external to internal and
// back, from process to process and with processes that die at any call. It carries the
// finalizer of its load balancer and no other, nothing of the former load balancer
// stays, and once released nothing at all.
func TestMoveBetweenSchemes(t *testing.T) {
	for name, c := range map[string]struct{ config, ilb, netlb string }{
		"older": {"", "gke.networking.io/l4-ilb-v1", "gke.networking.io/l4-netlb-v2"},
		"newer": {"enable-l4-netlb-neg-default = true\n[global]\nalpha-features = ILBSubsets\n", "gke.networking.io/l4-ilb-v2", "gke.networking.io/l4-netlb-v3"},
	} {
		for dies := range 5 {
			virtual.Run(t, fmt.Sprintf("%s/%d", name, dies), func(t *testing.T) {
				begin, ok := newSubject(c.config)(t).(subject)
				if !ok {
					t.Fatal("not the subject of this package")
				}
				before := countNamed(t, begin)
				m := &mover{T: t, s: begin, svc: serviceCase("web", "", nil).Service}
				m.svc.Spec.LoadBalancerClass = nil
				for _, s := range moveStages(c.ilb, c.netlb) {
					m.svc.Annotations = s.annotations
					if dies > 0 {
						m.die(3*dies - 2)
					}
					m.converge(m.process())
					m.arrived(s)
				}
				m.leave()
				if after := countNamed(t, begin); after != before {
					t.Errorf("%d names of ours in the cloud, were %d", after, before)
				}
			})
		}
	}
}

// countNamed counts the resources of the cloud that have names of load balancers.
func countNamed(t *testing.T, s subject) int {
	t.Helper()
	body, err := json.Marshal(s.Control().State())
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(body, []byte("k8s")) + bytes.Count(body, []byte("a5a0c1f6e"))
}

// leave releases the Service.
func (m *mover) leave() {
	m.Helper()
	r := reconcile.New(m.s.Open(m.T), reconcile.Options{GatherReleases: time.Millisecond})
	r.AllKnown()
	m.leaveBy(r)
}

func (m *mover) leaveBy(r *reconcile.Reconciler) {
	m.Helper()
	for range 12 {
		if res, err := m.work(r, true); err == nil && res.Released {
			return
		}
	}
	m.Error("it is not released")
}

// TestForgottenKind: a process dies while it creates a load balancer; the Service loses
// everything that would show that, and asks for another kind. To the next process it is
// new. If it is deleted before that process has ever read the existing resources, those
// of the first process are deleted as well.
func TestForgottenKind(t *testing.T) {
	kinds := map[string]map[string]string{
		"internal": {"networking.gke.io/load-balancer-type": "Internal"},
		"external": nil,
	}
	for from, to := range map[string]string{"internal": "external", "external": "internal"} {
		for k := 1; k < 12; k += 2 {
			virtual.Run(t, fmt.Sprintf("%s/%d", from, k), func(t *testing.T) {
				s, ok := newSubject("[global]\nalpha-features = ILBSubsets\n")(t).(subject)
				if !ok {
					t.Fatal("not the subject of this package")
				}
				before := countNamed(t, s)
				m := &mover{T: t, s: s, svc: serviceCase("web", "", kinds[from]).Service}
				m.svc.Spec.LoadBalancerClass = nil
				m.svc.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
				m.die(k)
				m.svc.Annotations = kinds[to]

				r := props.Process(t, s.Open(t), s.Nodes())
				d, err := r.Draft(t.Context(), reconcile.Job{Service: m.svc, NeverProvisioned: true})
				if err != nil {
					t.Fatal(err)
				}
				if res := r.Run(t.Context(), d, nil); res.Err != nil {
					t.Fatal(res.Err)
				}
				m.leaveBy(r)
				if after := countNamed(t, s); after != before {
					t.Errorf("%d names of ours in the cloud, were %d", after, before)
				}
			})
		}
	}
}

// finalizerList returns a list of the finalizer, if it is set.
func finalizerList(finalizer string) []string {
	if finalizer == "" {
		return nil
	}
	return []string{finalizer}
}
