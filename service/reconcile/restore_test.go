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
// when the new one is refused, or the rule without which it is of no use. The same replacement
// is not tried again for a while; another one is tried at once.
func TestRefusedReplacement(t *testing.T) {
	for name, tc := range map[string]struct {
		refuses  func(plan.Step) bool
		removals int // of listeners, in each try
	}{
		"the new listener": {func(s plan.Step) bool {
			spec, is := s.Target.Spec.(listener)
			return is && spec.To.ID == "" // the old one refers to the old pool
		}, 1},
		"what completes it": {func(s plan.Step) bool {
			spec, is := s.Target.Spec.(rule)
			return is && spec.Allow != allowPort(30080)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) { checkRefusedReplacement(t, tc.refuses, tc.removals) })
	}
}

func checkRefusedReplacement(t *testing.T, refuses func(plan.Step) bool, each int) {
	t.Helper()
	cloud, w := toyCloud(), newWorld()
	replaced, completes := cloud.Rules.Kinds[kindListener], cloud.Rules.Kinds[kindRule]
	replaced.Immutable, replaced.Replace, replaced.Restore = []string{"To"}, diff.DeleteFirst, true
	completes.Role = diff.Completes
	cloud.Rules.Kinds[kindListener], cloud.Rules.Kinds[kindRule] = replaced, completes
	cloud.Rules.Edges = append(cloud.Rules.Edges, diff.Edge{
		First: diff.Match{Action: plan.Create, Kind: kindListener}, Then: diff.Match{Action: plan.Create, Kind: kindRule}, Reason: "the rule admits clients to an existing listener",
	})
	p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	p.AllKnown()
	p.settle(t, jobFor(newShop("a", one)))

	removals := 0
	w.refuse = func(s plan.Step) *plan.Outcome {
		if s.ID.Key.Kind == kindListener && s.ID.Action == plan.Delete {
			removals++
		}
		if s.ID.Action == plan.Create && refuses(s) {
			o := plan.Failed(fault.New(fault.Quota, "no more of them"))
			return &o
		}
		return nil
	}
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
	checkEqual(t, each, removals)
	try(30082)
	serves("a listener 80 to 30080")
	checkEqual(t, 2*each, removals) // another replacement
	w.refuse = nil
	p.clock.Step(time.Hour)
	p.settle(t, jobFor(newShop("a", map[int32]int32{80: 30082})))
	serves("a listener 80 to 30082")
	checkEqual(t, 1, len(w.of("a", kindPool)))
}
