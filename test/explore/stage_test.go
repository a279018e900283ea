package explore

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// stage is a world in which nothing is held back, with one process, and what that says is
// kept with its time.
type stage struct {
	*world
	t    *testing.T
	heed *heard
}

// heard are the events that were sent.
type heard struct {
	mu     sync.Mutex
	events []event
}

type event struct {
	at                 time.Time
	name, kind, reason string
	text               string
}

// Event implements record.EventRecorder.
func (h *heard) Event(object runtime.Object, kind, reason, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	svc, _ := object.(*corev1.Service)
	h.events = append(h.events, event{time.Now(), svc.GetName(), kind, reason, text})
}

// Eventf implements record.EventRecorder.
func (h *heard) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	h.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf implements record.EventRecorder.
func (h *heard) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	h.Eventf(object, kind, reason, format, args...)
}

// of are the events of a Service since some time, in order.
func (h *heard) of(name string, since time.Time) []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.events), func(e event) bool { return e.name != name || e.at.Before(since) })
}

// all are the events in order.
func (h *heard) all() []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// performOn calls play with a stage on a fresh cloud, in virtual time.
func performOn(t *testing.T, fresh func(testing.TB) Subject, play func(*stage)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		s := &stage{world: newWorld(fresh(t)), t: t, heed: &heard{}}
		s.recorder = s.heed
		s.gate.openAll()
		defer s.close()
		play(s)
	})
}

// start starts the process.
func (s *stage) start() {
	s.t.Helper()
	s.begin(s.t.Context())
}

// get is a Service as the API server has it.
func (s *stage) get(name string) *corev1.Service {
	s.t.Helper()
	all := s.kube.all()
	i := slices.IndexFunc(all, func(svc *corev1.Service) bool { return svc.Name == name })
	if i < 0 {
		s.t.Fatalf("%s is not there", name)
	}
	return all[i].DeepCopy()
}

func (s *stage) address(name string) string {
	return conditions.Addresses(s.get(name).Status.LoadBalancer.Ingress)
}

// byHand returns a hand that is not Berth's: a reconciler of its own, whose calls nothing holds.
func (s *stage) byHand() *reconcile.Reconciler {
	s.t.Helper()
	bound, err := s.subject.Open(s.t.Context(), "http://hand-cloud."+s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	r := reconcile.New(bound, reconcile.Options{Now: time.Now})
	nodes := &corev1.NodeList{}
	s.kube.mu.Lock()
	for _, n := range s.kube.nodes {
		nodes.Items = append(nodes.Items, *n)
	}
	s.kube.mu.Unlock()
	r.SetNodes(props.Project(nodes.Items))
	r.AllKnown()
	return r
}

// edit has the hand write a Service as it is given, with every gate open.
func (s *stage) edit(svc *corev1.Service) {
	s.t.Helper()
	r := s.byHand()
	d, err := r.Draft(s.t.Context(), reconcile.Job{Service: svc})
	if err != nil {
		s.t.Fatal(err)
	}
	if res := r.Run(s.t.Context(), d, plan.OpenGates); res.Err != nil || !d.Plan.Writes() {
		s.t.Fatalf("by hand nothing was written: %v", res.Err)
	}
}

// beside drafts a Service by hand, or deletes its load balancer with every gate open.
func (s *stage) beside(svc *corev1.Service, job reconcile.Job) *reconcile.Draft {
	s.t.Helper()
	r := s.byHand()
	job.Service = svc
	for range 20 {
		d, err := r.Draft(s.t.Context(), job)
		if err != nil {
			s.t.Fatal(err)
		}
		if !job.Release {
			return d
		}
		if res := r.Run(s.t.Context(), d, plan.OpenGates); res.Released {
			return d
		}
		time.Sleep(time.Minute)
	}
	s.t.Fatal("the load balancer could not be deleted by hand")
	return nil
}

// text is an event as kubectl shows it.
func (e event) String() string { return strings.Join([]string{e.kind, e.reason, e.text}, " ") }
