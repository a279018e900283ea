package plan_test

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
)

// TestBlocked: the cause in words, and whether a later run is needed.
func TestBlocked(t *testing.T) {
	other := stepID(newOwner("x"), plan.Create, newKey("listener", "80"), "")
	for _, tc := range []struct {
		blocked plan.Blocked
		cause   string
		inCloud bool
	}{
		{plan.Blocked{By: plan.ByPolicy, Policy: "no-delete"}, "policy no-delete", false},
		{plan.Blocked{By: plan.ByNeeds, Needs: other}, "needs create listener/80", false},
		{plan.Blocked{By: plan.ByUse}, "use", true},
		{plan.Blocked{By: plan.BySlot}, "slot", true},
		{plan.Blocked{By: plan.ByProof}, "proof", true},
		{plan.Blocked{By: plan.ByBlind}, "blind", true},
		{plan.Blocked{By: plan.ByBusy}, "busy", true},
		{plan.Blocked{By: plan.ByFailed}, "failed", true},
		{plan.Blocked{By: plan.ByLedger}, "ledger", false},
		{plan.Blocked{By: plan.ByFixed}, "fixed", false},
	} {
		if got := tc.blocked.Cause(); got != tc.cause {
			t.Errorf("%s: got %q", tc.cause, got)
		}
		if got := tc.blocked.InCloud(); got != tc.inCloud {
			t.Errorf("%s: in the cloud: got %v", tc.cause, got)
		}
	}
}

// TestPreparationIsBlocked: a step that only prepares others is blocked when all of them
// are, and stays while one is not.
func TestPreparationIsBlocked(t *testing.T) {
	o := newOwner("x")
	reserve, remove, create := stepID(o, plan.Create, newKey("address", ""), ""), stepID(o, plan.Delete, newKey("rule", "a"), ""), stepID(o, plan.Create, newKey("rule", "b"), "")
	steps := []plan.Step{{ID: reserve, Prepares: true}, {ID: remove, Waits: plan.Waits{Needs: []plan.StepID{reserve}}}, {ID: create, Waits: plan.Waits{Needs: []plan.StepID{reserve}}}}
	block := func(ids ...plan.StepID) plan.StepFilter {
		return func(s plan.Step) plan.Verdict {
			return plan.Verdict{Blocked: slices.Contains(ids, s.ID), By: plan.ByBlind, Why: "not seen"}
		}
	}
	if got := (plan.Plan{Owner: o, Steps: steps}).Under(block(remove)); len(got.Steps) != 2 {
		t.Errorf("one user is not blocked: got steps %v", got.Steps)
	}
	got := plan.Plan{Owner: o, Steps: steps}.Under(block(remove, create))
	if len(got.Steps) != 0 || len(got.Blocked) != 3 {
		t.Errorf("all users are blocked: got steps %v", got.Steps)
	}
	steps[0].Prepares = false
	if got := (plan.Plan{Owner: o, Steps: steps}).Under(block(remove, create)); len(got.Steps) != 1 {
		t.Errorf("a step of its own: got steps %v", got.Steps)
	}
}

// TestReplacementIsBlocked: a replacement is blocked with a step without which the new resource
// is of no use, and not with a step that only follows it.
func TestReplacementIsBlocked(t *testing.T) {
	o := newOwner("x")
	remove, create := stepID(o, plan.Delete, newKey("rule", "a"), ""), stepID(o, plan.Create, newKey("rule", "a"), "")
	admit, tidy := stepID(o, plan.Update, newKey("firewall", "a"), ""), stepID(o, plan.Delete, newKey("pool", "a"), "")
	pair := plan.Pair{Create: create, Delete: remove, Order: plan.DeleteFirst, Restore: true}
	steps := []plan.Step{
		{ID: remove, Pair: pair}, {ID: create, Waits: plan.Waits{Needs: []plan.StepID{remove}}, Pair: pair},
		{ID: admit, Waits: plan.Waits{Needs: []plan.StepID{create}}, Remedies: plan.Remedies{Undoes: []plan.Pair{pair}}}, {ID: tidy, Waits: plan.Waits{Needs: []plan.StepID{create}}},
	}
	for _, tc := range []struct {
		blocked plan.StepID
		left    int
	}{{admit, 0}, {tidy, 3}} {
		got := plan.Plan{Owner: o, Steps: steps}.Under(func(s plan.Step) plan.Verdict {
			return plan.Verdict{Blocked: s.ID == tc.blocked, By: plan.ByPolicy, Why: "not permitted"}
		})
		if len(got.Steps) != tc.left {
			t.Errorf("%s is blocked: %d steps are left, want %d", tc.blocked, len(got.Steps), tc.left)
		}
	}
}
