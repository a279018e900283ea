package props

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
)

// TakeOver serves Services that another controller has served until now, and returns the
// calls by which a process that knows nothing writes meanwhile; afterwards nothing is to be
// done for any of them. Then they are released, and it returns what is left in the cloud.
func TakeOver(t testing.TB, s Subject, services []*corev1.Service) (writes []sim.Entry, left string) {
	t.Helper()
	s.Control().Journal.Reset()
	p := begin(t, s, s.Nodes(), services...)
	for _, svc := range services {
		p.converge(svc, false)
	}
	for _, e := range s.Control().Journal.Entries() {
		if e.Write {
			writes = append(writes, e)
		}
	}
	again := begin(t, s, s.Nodes())
	for _, svc := range services {
		// What others want, and nobody can tell who has brought it, was no claim that ends.
		d, err := again.r.Draft(t.Context(), again.job(svc))
		if err != nil || slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool { return s.ID.Action == plan.Forget }) {
			t.Errorf("%s: a new process finds claims that end: %v %v", svc.Name, ids(d.Plan), err)
		}
	}
	again.r.AllKnown()
	for _, svc := range services {
		d, err := again.r.Draft(t.Context(), again.job(svc))
		if err != nil || len(d.Plan.Steps) > 0 {
			t.Errorf("%s: a new process finds something to do: %v %v", svc.Name, ids(d.Plan), err)
		}
	}
	for _, svc := range services {
		p.converge(svc, true)
	}
	return writes, state(t, s)
}
