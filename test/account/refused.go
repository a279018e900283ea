package account

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Refusals are Services that a cloud refuses, each with a part of the message.
type Refusals = map[string]struct {
	Annotations map[string]string
	Change      func(*corev1.ServiceSpec)
	Want        string
}

// Refused fails unless each Service is refused with this message before anything is created.
func (c Cloud[O, S]) Refused(t *testing.T, opt O, all Refusals) {
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.Begin(t, opt)
			d, err := w.Process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", r.Annotations, r.Change).Service})
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(d.Problems.Strings(), "\n"); !d.Problems.Errors() || !strings.Contains(text, r.Want) {
				t.Errorf("problems %q, want %q", text, r.Want)
			}
			if n := w.Control().Journal.Writes(); !d.Plan.Empty() || n != 0 {
				t.Errorf("%d steps are planned, %d writes were made", len(d.Plan.Steps), n)
			}
		})
	}
}

// Immutable changes a live Service in ways that its load balancer cannot take over. The change
// is refused; addresses and ports stay, and one node less serves each of them.
func (c Cloud[O, S]) Immutable(t *testing.T, opt O, live map[string]string, changes map[string]map[string]string) {
	for name, change := range changes {
		virtual.Run(t, name, func(t *testing.T) {
			w := c.Begin(t, opt)
			svc := props.Service("web", live).Service
			w.Serve(svc)
			before := w.Sim.Forwards()
			svc.Annotations = change
			w.Process.SetNodes(w.Machines[1:])
			for _, f := range w.refuse(svc, before) {
				if len(f.To) != len(w.Machines)-1 {
					t.Errorf("%d nodes, and %v", len(w.Machines)-1, f)
				}
			}
		})
	}
}

// refuse works on a Service that cannot be applied, and returns what is served then: the ports from
// before, whose backends may be others.
func (w *World[S]) refuse(svc *corev1.Service, before []Forward) []Forward {
	w.Helper()
	res, err := w.Once(svc, false)
	if err != nil || res.Err != nil || !res.Draft.Problems.Errors() {
		w.Fatal(err, res.Err, res.Draft.Problems)
	}
	after := w.Sim.Forwards()
	if len(before) == 0 || !reflect.DeepEqual(withoutBackends(before), withoutBackends(after)) {
		w.Errorf("before %v\nafter %v", before, after)
	}
	return after
}

// withoutBackends returns the ports that are served.
func withoutBackends(all []Forward) map[string]int {
	out := map[string]int{}
	for _, f := range all {
		f.To = nil
		out[f.String()]++
	}
	return out
}

// TogetherUnrefused serves and deletes Services at the same time, and fails if a call is
// refused: no write may be sent to a load balancer that is busy with another one.
func (c Cloud[O, S]) TogetherUnrefused(t *testing.T, opt O, cases ...props.Case) {
	virtual.Test(t, func(t *testing.T) {
		w := c.Begin(t, opt)
		w.Control().Journal.Reset()
		props.Together(t, w.Subject, cases)
		for _, e := range w.Control().Journal.Entries() {
			if isRefused(e) {
				t.Errorf("%s %s was refused: %d %s", e.Service, e.Operation, e.Status, e.Code)
			}
		}
	})
}
