package reconcile_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// byNames starts a process on a toy cloud whose marks have no UID.
func byNames() *process {
	cloud, w := toyCloud(), newWorld()
	cloud.FoundByName = func(stack.Owner, stack.Resource) bool { return true }
	w.named = true
	p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	p.AllKnown()
	return p
}

// reapplyService returns a Service of the same name, with another UID.
func reapplyService(svc *corev1.Service) *corev1.Service {
	out := svc.DeepCopy()
	out.UID = types.UID(string(svc.UID) + " again")
	return out
}

// refusing has the cloud refuse all deletions of a kind.
func (w *world) refusing(kind stack.Kind) {
	w.refuse = func(s plan.Step) *plan.Outcome {
		if s.ID.Action != plan.Delete || s.ID.Key.Kind != kind {
			return nil
		}
		o := plan.Failed(fault.New(fault.InUse, "%s is in use", s.ID.Key))
		return &o
	}
}

// TestNamesakeKeepsItsResources: a release that continues after a Service of the same name is
// served deletes nothing of that one, and ends.
func TestNamesakeKeepsItsResources(t *testing.T) {
	for name, during := range map[string]func(*testing.T, *process, *corev1.Service, *corev1.Service){
		"deletion refused": func(t *testing.T, p *process, first, second *corev1.Service) {
			p.w.refusing(kindPool)
			if res, err := p.once(releaseJob(first)); err != nil || res.Released {
				t.Fatalf("not refused: %v, %v", res.Released, err)
			}
			p.w.refuse = nil
			p.settle(t, jobFor(second))
		},
		"a creation not answered": func(t *testing.T, p *process, first, second *corev1.Service) {
			p.w.refusing(kindPool)
			if _, err := p.once(releaseJob(first)); err != nil {
				t.Fatal(err)
			}
			p.w.refuse = nil
			p.w.crashAt, p.w.commit = p.w.calls+1, true
			if res, err := p.once(reconcile.Job{Service: second, NeverProvisioned: true}); err != nil || res.Err == nil {
				t.Fatalf("answered: %v, %v", res.Err, err)
			}
			p.w.crashAt = 0
		},
		"served before the release began": func(t *testing.T, p *process, _, second *corev1.Service) {
			p.settle(t, jobFor(second))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := byNames()
			first := newShop("a", one)
			second := reapplyService(first)
			p.settle(t, jobFor(first))
			during(t, p, first, second)
			before := p.w.show(t)
			p.settle(t, releaseJob(first))
			checkEqual(t, before, p.w.show(t))
			p.settle(t, jobFor(second))
			checkEqual(t, []string{"a lb public", "a listener 80 to 30080", "a pool 30080 [n1 n2]", "rule health", "rule node port 30080"}, p.w.show(t))
			p.settle(t, releaseJob(second))
			checkEqual(t, []string{}, p.w.show(t))
		})
	}
}

// TestLostResourcesGo: what a Service had, and a later one of the same name does not use, is
// deleted.
func TestLostResourcesGo(t *testing.T) {
	p := byNames()
	first := newShop("a", map[int32]int32{80: 30080, 443: 30443})
	second := reapplyService(newShop("a", one))
	p.settle(t, jobFor(first))
	p.w.refusing(kindPool)
	if _, err := p.once(releaseJob(first)); err != nil {
		t.Fatal(err)
	}
	p.w.refuse = nil
	if _, err := p.once(reconcile.Job{Service: second, NeverProvisioned: true}); err != nil {
		t.Fatal(err)
	}
	p.settle(t, releaseJob(first))
	p.settle(t, jobFor(second))
	checkEqual(t, []string{"a lb public", "a listener 80 to 30080", "a pool 30080 [n1 n2]", "rule health", "rule node port 30080"}, p.w.show(t))
}
