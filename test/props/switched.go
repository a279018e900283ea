package props

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/plan"
)

// Switched changes a Service to another load balancer while the cloud permanently refuses one
// type of write: the old one is complete then, or every desired resource of the new one is
// created, also after a restart. Once no write is refused, the desired state is reached.
func Switched(t *testing.T, fresh New, from, to Case, except ...string) {
	was, is := from.Service, to.Service.DeepCopy()
	is.ObjectMeta.Name, is.ObjectMeta.UID = was.Name, was.UID
	c := Case{Name: from.Name + " to " + to.Name, Service: was}
	for _, operation := range writesOf(t, fresh, c, is) {
		if slices.Contains(except, operation) {
			continue
		}
		runVirtual(t, c.Name+" "+operation, func(t *testing.T) {
			s := fresh(t)
			served := startProcess(t, s, s.Nodes(), was)
			served.converge(was, false)
			before := observedStack(t, s, was)
			allow := refuseOperation(t, s, operation)
			for _, who := range []string{"the process that has served it", "a new process"} {
				p := served
				if who == "a new process" {
					p = startProcess(t, s, s.Nodes(), is)
				}
				for range 4 {
					if _, err := p.once(t.Context(), is, false); err != nil {
						t.Fatal(who, err)
					}
				}
				if lost := Missing(before, observedStack(t, s, is)); len(lost) > 0 && !isComplete(t, s, is) {
					t.Errorf("%s: gone while the new one is not complete: %v", who, lost)
				}
			}
			allow()
			p := startProcess(t, s, s.Nodes(), is)
			p.converge(is, false)
			nothingToDo(t, s, s.Nodes(), is)
		})
	}
}

// isComplete reports whether no desired resource of a Service remains to be created or
// updated.
func isComplete(t *testing.T, s Subject, svc *corev1.Service) bool {
	t.Helper()
	p := startProcess(t, s, s.Nodes(), svc)
	d, err := p.r.Draft(t.Context(), p.job(svc))
	if err != nil {
		t.Fatal(err)
	}
	return !slices.ContainsFunc(d.Plan.Steps, func(step plan.Step) bool {
		return step.ID.Action == plan.Create || step.ID.Action == plan.Update
	})
}
