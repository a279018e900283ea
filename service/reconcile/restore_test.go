package reconcile_test

import (
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// TestRefusedReplacement: a listener that must be deleted to be replaced serves as before
// when the new one is refused. The same replacement is not tried again for a while; another
// one is tried at once.
func TestRefusedReplacement(t *testing.T) {
	cloud, w := toyCloud(), newWorld()
	rule := cloud.Rules.Kinds[kindListener]
	rule.Immutable, rule.Replace, rule.Restore = []string{"To"}, diff.DeleteFirst, true
	cloud.Rules.Kinds[kindListener] = rule
	p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	p.AllKnown()
	p.settle(t, jobFor(newShop("a", one)))

	removals := 0
	refuseNew := func(s plan.Step) *plan.Outcome {
		if s.ID.Key.Kind == kindListener && s.ID.Action == plan.Delete {
			removals++
		}
		if spec, is := s.Target.Spec.(listener); is && s.ID.Action == plan.Create && spec.To.ID == "" { // the old one refers to the old pool
			o := plan.Failed(fault.New(fault.Quota, "no more listeners"))
			return &o
		}
		return nil
	}
	w.refuse = refuseNew
	serves := func(line string) {
		t.Helper()
		if !slices.Contains(w.show(t), line) {
			t.Errorf("want %q in %v", line, w.show(t))
		}
	}
	try := func(nodePort int32) reconcile.Result {
		t.Helper()
		res, err := p.once(jobFor(newShop("a", map[int32]int32{80: nodePort})))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := try(30081); res.Err == nil || res.Clean {
		t.Errorf("the refusal is not reported: %v", res.Err)
	}
	serves("a listener 80 to 30080")
	for range 5 {
		res := try(30081)
		if res.Clean || !res.Waits || res.Wait <= 0 || !res.Draft.Plan.AnyBlocked(plan.ByRefused) {
			t.Fatalf("clean %v, waits %v for %v, blocked %v", res.Clean, res.Waits, res.Wait, res.Draft.Plan.Blocked)
		}
	}
	serves("a listener 80 to 30080")
	if removals != 1 {
		t.Errorf("the listener was deleted %d times, want once", removals)
	}
	try(30082)
	serves("a listener 80 to 30080")
	if removals != 2 {
		t.Errorf("another replacement: the listener was deleted %d times, want twice", removals)
	}
	w.refuse = nil
	p.clock.Step(time.Hour)
	p.settle(t, jobFor(newShop("a", map[int32]int32{80: 30082})))
	serves("a listener 80 to 30082")
	checkEqual(t, 1, len(w.of("a", kindPool)))
}
