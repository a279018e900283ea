package props

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
)

// testUnread: a Service that is reported as new is planned without a read for existing resources.
// The result is the same load balancer. Where some of its resources exist nevertheless, in
// whole or in part, the result is as if they had been read.
func testUnread(t *testing.T, fresh New, c Case) {
	empty := fresh(t)
	before := cloudState(t, empty)
	p := startProcess(t, empty, empty.Nodes())
	res, err := Work(t.Context(), p.r, newServiceJob(p, c.Service))
	if err != nil || res.Err != nil {
		t.Fatal(err, res.Err)
	}
	p.converge(c.Service, false)
	nothingToDo(t, empty, empty.Nodes(), c.Service)
	p.converge(c.Service, true)
	if diff := cmp.Diff(before, cloudState(t, empty)); diff != "" {
		t.Errorf("deletion left something (-before +after):\n%s", diff)
	}
	total := callsOf(t, fresh, c)
	for k := 1; k <= total; k += max(1, total/5) {
		s := fresh(t)
		before := cloudState(t, s)
		crashAt(t, s, c.Service, false, k, sim.FaultCutAfter)
		p := startProcess(t, s, s.Nodes())
		if _, err := Work(t.Context(), p.r, newServiceJob(p, c.Service)); err != nil {
			t.Fatal(err)
		}
		p.converge(c.Service, false)
		nothingToDo(t, s, s.Nodes(), c.Service)
		p.converge(c.Service, true)
		if diff := cmp.Diff(before, cloudState(t, s)); diff != "" {
			t.Fatalf("new though %d calls were made: something is left over (-before +after):\n%s", k, diff)
		}
	}
	whole := fresh(t)
	startProcess(t, whole, whole.Nodes(), c.Service).converge(c.Service, false)
	was := resourceKeys(t, whole, c.Service)
	q := startProcess(t, whole, whole.Nodes())
	res, err = Work(t.Context(), q.r, newServiceJob(q, c.Service))
	if err != nil || res.Err != nil || !res.Clean {
		t.Fatalf("reported as new although everything exists: clean %v, errors %v, %v", res.Clean, err, res.Err)
	}
	if diff := cmp.Diff(was, resourceKeys(t, whole, c.Service)); diff != "" {
		t.Errorf("reported as new although everything exists (-before +after):\n%s", diff)
	}
}

// newServiceJob returns the job for a Service that is reported as new.
func newServiceJob(p *process, svc *corev1.Service) reconcile.Job {
	job := p.job(svc)
	job.NeverProvisioned = true
	return job
}
