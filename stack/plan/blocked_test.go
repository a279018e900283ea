package plan_test

import (
	"testing"

	"github.com/berth-lb/berth/stack/plan"
)

// TestBlocked: the cause in words, and whether anybody has to look again.
func TestBlocked(t *testing.T) {
	other := id(owner("x"), plan.Create, key("listener", "80"), "")
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
