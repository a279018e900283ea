package diff_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// withState sets the state of the observed resource with the key.
func withState(state stack.State, s *stack.Stack, k stack.Key) *stack.Stack {
	r, _ := s.Get(k)
	r.State = state
	s.Put(r)
	return s
}

func settlingLB(r *diff.Rules) {
	lb := r.Kinds["lb"]
	lb.Pending, lb.Failed = diff.Settle, diff.Report
	r.Kinds["lb"] = lb
}

// TestPending: a busy resource and its parts are not written, and no step depends on
// them; all other changes continue.
func TestPending(t *testing.T) {
	heldAddress := ownedResource(newKey("address", "held"), stack.Key{}, address{Name: "x"})
	holdFirst := func(r *diff.Rules) {
		a := r.Kinds["address"]
		a.Pending = diff.Settle
		r.Kinds["address"] = a
		r.Edges = append(r.Edges, diff.Edge{First: diff.Match{Action: plan.Create, Kind: "address"}, Then: diff.Match{Action: plan.Delete, Kind: "lb"}})
	}
	newPort := append(withChanges(ownedResource(newKey("targets", "80"), newKey("group", "80"), targets{IDs: []string{"a", "c"}})),
		withSlot(ownedResource(newKey("listener", "81"), theLB, listener{Protocol: "TCP", To: newRef("group", "80")}), "port 81"))
	runCompare(t, map[string]compareCase{
		"nothing waits for it, nothing is told": {want: desiredStack(wholeStack()...), have: withState(stack.Pending, observedStack(wholeStack()...), theLB), rules: settlingLB},
		"a kind that takes changes meanwhile": {
			want: desiredStack(newPort...), have: withState(stack.Pending, observedStack(wholeStack()...), theLB),
			plan: []string{"create listener/81", "update targets/80 ids+", "update targets/80 ids- <- update targets/80 ids+"},
		},
		"what is in it waits, what is not goes on": {
			want: desiredStack(newPort...), have: withState(stack.Pending, observedStack(wholeStack()...), theLB), rules: settlingLB,
			plan: []string{
				"update targets/80 ids+", "update targets/80 ids- <- update targets/80 ids+",
				"held update lb settle: busy", "held create listener/81: needs update lb settle",
			},
		},
		"its end waits, and what goes after it": {
			have: withState(stack.Pending, observedStack(wholeStack()...), theLB), rules: settlingLB,
			plan: []string{
				"delete rule/30080", "held update lb settle: busy", "held delete lb: needs update lb settle",
				"held delete group/80: needs delete lb",
			},
		},
		"what refers to it waits": {
			want: desiredStack(ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("lb", "")}), ownedResource(theLB, stack.Key{}, lb{Scheme: "public"})),
			have: withState(stack.Pending, observedStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "public"})), theLB), rules: settlingLB,
			plan: []string{"held update lb settle: busy", "held create x: needs update lb settle"},
		},
		"an edge from its creation counts until it is ready": {
			want: desiredStack(heldAddress), have: withState(stack.Pending, observedStack(heldAddress, ownedResource(theLB, stack.Key{}, lb{})), heldAddress.Key), rules: holdFirst,
			plan: []string{"held update address/held settle: busy", "held delete lb: needs update address/held settle"},
		},
		"the edge is nothing once it is ready": {
			want: desiredStack(heldAddress), have: observedStack(heldAddress, ownedResource(theLB, stack.Key{}, lb{})), rules: holdFirst,
			plan: []string{"delete lb"},
		},
	})
}

// TestFailed: a failed resource is repaired, recreated or reported, as its kind
// requires; it can always be deleted.
func TestFailed(t *testing.T) {
	remade := func(r *diff.Rules) {
		g := r.Kinds["group"]
		g.Failed = diff.Remake
		r.Kinds["group"] = g
	}
	newPort := append(wholeStack(), withSlot(ownedResource(newKey("listener", "81"), theLB, listener{Protocol: "TCP", To: newRef("group", "80")}), "port 81"))
	runCompare(t, map[string]compareCase{
		"mended": {
			want: desiredStack(withChanges(ownedResource(theLB, stack.Key{}, lb{Scheme: "public", Tags: []string{"t"}}))...), have: withState(stack.Failed, observedStack(wholeStack()...), theLB),
			plan: []string{"update lb tags"},
		},
		"told although nothing differs": {
			want: desiredStack(wholeStack()...), have: withState(stack.Failed, observedStack(wholeStack()...), theLB), rules: settlingLB,
			plan: []string{"held update lb settle: failed"},
		},
		"nothing is made in it": {
			want: desiredStack(newPort...), have: withState(stack.Failed, observedStack(wholeStack()...), theLB), rules: settlingLB,
			plan: []string{"held update lb settle: failed", "held create listener/81: needs update lb settle"},
		},
		"deleted": {
			have: withState(stack.Failed, observedStack(wholeStack()...), theLB), rules: settlingLB,
			plan: []string{"delete rule/30080", "delete lb <- delete rule/30080", "delete group/80 <- delete lb"},
		},
		"replaced for another reason": {
			want: desiredStack(withChanges(ownedResource(theLB, stack.Key{}, lb{Scheme: "private"}))...), have: withState(stack.Failed, observedStack(wholeStack()...), theLB), rules: settlingLB,
			plan: []string{"create lb", "create listener/80 <- create lb", "delete lb <- create lb, create listener/80"},
		},
		"recreated": {
			want: desiredStack(wholeStack()...), have: withState(stack.Failed, observedStack(wholeStack()...), newKey("group", "80")), rules: remade,
			plan: []string{
				"create group/80",
				"update targets/80 ids+ <- create group/80",
				"update listener/80 <- create group/80, update targets/80 ids+",
				"delete group/80 <- create group/80, update listener/80, update targets/80 ids+",
			},
		},
	})
}

// TestUnsettledProperty: whatever differs, a step that is not held is neither of what
// the cloud is busy with nor of anything in it, no steps wait for each other because of
// it, and once all is ready the plan is what it would have been.
func TestUnsettledProperty(t *testing.T) {
	rules := toyRules()
	for kind, rule := range rules.Kinds {
		rule.Pending, rule.Failed = diff.Settle, diff.Report
		rules.Kinds[kind] = rule
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		want, have := randomStack(r), observedStack(randomStack(r).Resources...)
		busy := map[stack.Key]bool{}
		for i := range have.Resources {
			if r.IntN(4) == 0 {
				have.Resources[i].State = stack.Pending
				busy[have.Resources[i].Key] = true
			}
		}
		got := diff.Compare(want, have, rules, ledgerWith(nil))
		for _, s := range got.Steps {
			if busy[s.ID.Key] || busy[s.Target.In] {
				t.Fatalf("seed %d: %s is not held: %v", seed, s.ID, planLines(got))
			}
		}
		for _, h := range got.Blocked {
			if h.By == plan.ByCycle {
				t.Fatalf("seed %d: %s: %s", seed, h.Step.ID, h.Why)
			}
		}
		ready := slices.Clone(have.Resources)
		for i := range ready {
			ready[i].State = stack.Ready
		}
		all := diff.Compare(want, &stack.Stack{Owner: me, Resources: ready}, rules, ledgerWith(nil))
		known := map[plan.StepID]bool{}
		for _, s := range all.Steps {
			known[s.ID] = true
		}
		for _, s := range got.Steps {
			if !known[s.ID] {
				t.Fatalf("seed %d: %s is no step once all is ready", seed, s.ID)
			}
		}
	}
}
