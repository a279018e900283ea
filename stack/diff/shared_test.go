package diff_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// sharedBalancer returns a load balancer of several Services.
func sharedBalancer(name string) stack.Resource {
	r := ownedResource(newKey("lb", name), stack.Key{}, lb{})
	r.Ownership = stack.Shared
	return r
}

// TestYield: a free place in a shared resource is left to an older Service that requests
// it; a Service that has the place keeps it.
func TestYield(t *testing.T) {
	port := withSlot(ownedResource(newKey("listener", "80"), newKey("lb", "shop"), listener{}), "port 80")
	want := desiredStack(sharedBalancer("shop"), port)
	older, younger := ledger.New(), ledger.New()
	for book, at := range map[*ledger.Ledger]int64{older: 1, younger: 3} {
		book.SetReady()
		book.EnterSince(me, time.Unix(2, 0), want.Resources)
		book.EnterSince(stack.Owner{Namespace: "ns", Name: "other", UID: "2"}, time.Unix(at, 0), want.Resources)
	}
	p := diff.Compare(want, observedStack(sharedBalancer("shop")), toyRules(), older)
	if len(p.Steps) > 0 || len(p.Blocked) != 1 || p.Blocked[0].By != plan.BySlot || p.Blocked[0].Why != "port 80 is asked for by ns/other as well, which is older" {
		t.Errorf("beside an older one: %v, held %v", planLines(p), p.Blocked)
	}
	if p := diff.Compare(want, observedStack(sharedBalancer("shop")), toyRules(), younger); len(p.Blocked) > 0 || len(p.Steps) != 1 {
		t.Errorf("beside a younger one: %v, held %v", planLines(p), p.Blocked)
	}
	if p := diff.Compare(want, observedStack(sharedBalancer("shop"), port), toyRules(), older); !p.Empty() {
		t.Errorf("who has it: %v, held %v", planLines(p), p.Blocked)
	}
}

// TestSwitchFromLent: leaving a load balancer of another owner is a switch as well,
// although the load balancer stays without a step.
func TestSwitchFromLent(t *testing.T) {
	lent := sharedBalancer("shop")
	lent.Ownership, lent.Proof = stack.External, stack.None
	part := ownedResource(newKey("listener", "old"), lent.Key, listener{})
	for _, single := range []bool{true, false} {
		rules := toyRules()
		lbs := rules.Kinds["lb"]
		lbs.Single = single
		rules.Kinds["lb"] = lbs
		p := diff.Compare(desiredStack(ownedResource(theLB, stack.Key{}, lb{})), observedStack(lent, part), rules, ledgerWith(nil))
		gated := map[plan.Action]bool{}
		for _, s := range p.Steps {
			gated[s.ID.Action] = !s.Gate.IsZero()
		}
		if gated[plan.Create] || gated[plan.Delete] != single || len(gated) != 2 {
			t.Errorf("single %v: %v are gated", single, gated)
		}
	}
	still := diff.Compare(desiredStack(lent), observedStack(lent, part), toyRules(), ledgerWith(nil))
	if len(still.Steps) != 1 || !still.Steps[0].Gate.IsZero() {
		t.Errorf("a port that goes from a load balancer that stays: %v", planLines(still))
	}
}

// TestSwitchFromShared: leaving a load balancer to other Services is a switch like its
// deletion, if another name is another load balancer.
func TestSwitchFromShared(t *testing.T) {
	part := ownedResource(newKey("listener", "old"), newKey("lb", "shop"), listener{})
	for _, single := range []bool{true, false} {
		rules := toyRules()
		lbs := rules.Kinds["lb"]
		lbs.Single = single
		rules.Kinds["lb"] = lbs
		book := ledgerWith(nil)
		book.Enter(stack.Owner{Name: "other"}, []stack.Resource{sharedBalancer("shop")})
		p := diff.Compare(desiredStack(ownedResource(theLB, stack.Key{}, lb{})), observedStack(sharedBalancer("shop"), part), rules, book)
		gated := map[plan.Action]bool{}
		for _, s := range p.Steps {
			gated[s.ID.Action] = !s.Gate.IsZero()
		}
		if gated[plan.Create] || gated[plan.Forget] != single || gated[plan.Delete] != single || len(gated) != 3 {
			t.Errorf("single %v: %v are gated", single, gated)
		}
	}
}

// TestIncompleteSwitch: while the desired stack lacks a part, every deletion of the switch is
// blocked, and one that is blocked for another reason keeps it. Creations go on.
func TestIncompleteSwitch(t *testing.T) {
	rules := toyRules()
	lbs := rules.Kinds["lb"]
	lbs.Single = true
	rules.Kinds["lb"] = lbs
	other := ownedResource(newKey("lb", "old"), stack.Key{}, lb{})
	part := ownedResource(newKey("listener", "old"), other.Key, listener{})
	want := desiredStack(ownedResource(theLB, stack.Key{}, lb{}))
	if whole := diff.Compare(want, observedStack(other, part), rules, ledgerWith(nil)); len(whole.Blocked) > 0 || len(whole.Steps) < 2 {
		t.Fatalf("complete: %v, blocked %v", planLines(whole), whole.Blocked)
	}
	want.Incomplete = "its rules follow"
	p := diff.Compare(want, observedStack(other, part), rules, ledgerWith(nil))
	if !p.Only(plan.ByIncomplete) || len(p.Blocked) == 0 || len(p.Steps) != 1 || p.Steps[0].ID.Action != plan.Create {
		t.Errorf("incomplete: %v, blocked %v", planLines(p), p.Blocked)
	}
	p = diff.Compare(want, observedStack(sharedBalancer("old")), rules, ledger.New())
	if !p.AnyBlocked(plan.ByLedger) || p.AnyBlocked(plan.ByIncomplete) {
		t.Errorf("with unknown Services: blocked %v", p.Blocked)
	}
	if p := diff.Compare(want, observedStack(ownedResource(theLB, stack.Key{}, lb{}), ownedResource(newKey("listener", "old"), theLB, listener{})), rules, ledgerWith(nil)); len(p.Blocked) > 0 {
		t.Errorf("without a switch: blocked %v", p.Blocked)
	}
}
