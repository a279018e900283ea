package props

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/sim"
)

// applyAgain: the finalizer of a Service is removed by hand while its deletion is refused, and
// the same manifest is applied again. Whatever is released of the first Service later, the
// second one keeps its resources, and nothing is left when both are deleted.
func applyAgain(t *testing.T, fresh New, c Case) {
	total := deletionOf(t, fresh, c)
	next := sameName(c.Service)
	for i, k := range []int{total / 2, max(total-1, 0)} {
		s := fresh(t)
		before := cloudState(t, s)
		p := startProcess(t, s, s.Nodes(), c.Service)
		p.converge(c.Service, false)
		if i == 0 {
			checkDeclared(t, s, next)
		}
		withCrash(t, s, k, sim.FaultError, func() {
			_, _ = p.once(t.Context(), c.Service, true) // it is meant to fail
		})
		p.runInTurns(next, c.Service)
		nothingToDo(t, s, s.Nodes(), next)
		p.converge(next, true)
		if after := cloudState(t, s); before != after {
			t.Errorf("refused from call %d of the deletion on: something is left over", k)
		}
	}
}

// runInTurns serves one Service and releases another one in turns, as the controller does with
// two of one name, until nothing is left to do.
func (p *process) runInTurns(served, released *corev1.Service) {
	var to, from reconcile.Result
	var failed, stuck error
	for range patience {
		if to, failed = p.once(p.t.Context(), served, false); !from.Released {
			time.Sleep(again)
			from, stuck = p.once(p.t.Context(), released, true)
		}
		if failed == nil && to.Clean && from.Released {
			return
		}
		time.Sleep(again)
	}
	p.t.Errorf("%s: clean %v, released %v: errors %v, %v, %v, %v", served.Name, to.Clean, from.Released, failed, to.Err, stuck, from.Err)
}

// checkDeclared fails for a resource that a later Service of the same name finds as its own,
// although the cloud does not declare that.
func checkDeclared(t *testing.T, s Subject, later *corev1.Service) {
	t.Helper()
	cloud, p := s.Open(t), startProcess(t, s, s.Nodes())
	job := p.job(later)
	job.Release = true
	d, err := p.r.Draft(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range d.Have.Resources {
		parent, isPart := d.Have.Get(res.In)
		if cloud.Rules.Kinds[res.Key.Kind].Within.Inherent || res.Ownership != stack.Owned || res.Proof == stack.None || isPart && parent.Ownership == stack.Owned {
			continue
		}
		if cloud.FoundByName == nil || !cloud.FoundByName(d.Owner, res) {
			t.Errorf("a later Service of the same name finds %s %s as its own, and the cloud does not declare that (FoundByName)", res.Key, res.ID)
		}
	}
}

// sameName returns a Service of the same name with the same specification and another UID.
func sameName(svc *corev1.Service) *corev1.Service {
	out := renameService(svc)
	out.Name = svc.Name
	return out
}
