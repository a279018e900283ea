package reconcile_test

import (
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/service/reconcile"
)

// TestContested: another controller deletes the new rules of a Service that has no address yet. They are read
// again soon and after a minute, whatever happens in between. That costs nothing where the status has the address,
// or where the Service has no class, so that there is no other controller.
func TestContested(t *testing.T) {
	for name, tt := range map[string]struct {
		beside, published, again bool
	}{
		"beside another controller": {beside: true, again: true},
		"a known address":           {beside: true, published: true},
		"alone":                     {},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := newWorld(), toyCloud()
			rule := cloud.Rules.Kinds[kindRule]
			rule.Contested = true
			cloud.Rules.Kinds[kindRule] = rule
			p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
			p.AllKnown()
			job := jobFor(newShop("a", one))
			if tt.beside {
				job.Service.Spec.LoadBalancerClass = new("berth-lb.io/berth")
			}
			if tt.published {
				job.Service.Status.LoadBalancer.Ingress = startKnown(newWorld()).settle(t, job).Status.Ingress
			}
			res := p.settle(t, job)
			if len(w.of("", kindRule)) == 0 {
				t.Fatal("there is no rule")
			}
			job.Service.Status.LoadBalancer.Ingress, job.Applied = res.Status.Ingress, res.Draft.Asked
			for range 2 { // the status has changed
				checkEqual(t, cost{}, p.cost(func() { p.settle(t, job) }))
			}
			if next := p.NextRead(reconcile.OwnerOf(job.Service)); (next <= time.Minute) != tt.again {
				t.Fatalf("the next read is in %v", next)
			}
			if !tt.again {
				return
			}
			for _, wait := range []time.Duration{10 * time.Second, 50 * time.Second} {
				for _, r := range w.of("", kindRule) {
					delete(w.things, r.id)
				}
				checkEqual(t, wait, p.NextRead(reconcile.OwnerOf(job.Service)))
				p.clock.Step(wait)
				checkEqual(t, cost{Deep: 1, Writes: 2}, p.cost(func() { p.settle(t, job) }))
			}
			if next := p.NextRead(reconcile.OwnerOf(job.Service)); next < 20*time.Minute {
				t.Errorf("another read is in %v", next)
			}
		})
	}
}
