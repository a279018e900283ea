package diff_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// shared is a load balancer of several Services.
func shared(name string) stack.Resource {
	r := owned(key("lb", name), stack.Key{}, lb{})
	r.Ownership = stack.Shared
	return r
}

// TestYield: a place in something shared is left to an older Service that asks for it, and
// kept by who has it.
func TestYield(t *testing.T) {
	port := slot(owned(key("listener", "80"), key("lb", "shop"), listener{}), "port 80")
	want := wish(shared("shop"), port)
	older, younger := ledger.New(), ledger.New()
	for book, at := range map[*ledger.Ledger]int64{older: 1, younger: 3} {
		book.SetReady()
		book.EnterSince(me, time.Unix(2, 0), want.Resources)
		book.EnterSince(stack.Owner{Namespace: "ns", Name: "other", UID: "2"}, time.Unix(at, 0), want.Resources)
	}
	p := diff.Compare(want, found(shared("shop")), toyRules(), older)
	if len(p.Steps) > 0 || len(p.Blocked) != 1 || p.Blocked[0].By != plan.BySlot || p.Blocked[0].Why != "port 80 is asked for by ns/other as well, which is older" {
		t.Errorf("beside an older one: %v, held %v", lines(p), p.Blocked)
	}
	if p := diff.Compare(want, found(shared("shop")), toyRules(), younger); len(p.Blocked) > 0 || len(p.Steps) != 1 {
		t.Errorf("beside a younger one: %v, held %v", lines(p), p.Blocked)
	}
	if p := diff.Compare(want, found(shared("shop"), port), toyRules(), older); !p.Empty() {
		t.Errorf("who has it: %v, held %v", lines(p), p.Blocked)
	}
}

// TestSwitchFromLent: who leaves a load balancer of others has a switch as well, although
// the load balancer stays without a step.
func TestSwitchFromLent(t *testing.T) {
	lent := shared("shop")
	lent.Ownership, lent.Proof = stack.External, stack.None
	part := owned(key("listener", "old"), lent.Key, listener{})
	for _, single := range []bool{true, false} {
		rules := toyRules()
		lbs := rules.Kinds["lb"]
		lbs.Single = single
		rules.Kinds["lb"] = lbs
		p := diff.Compare(wish(owned(theLB, stack.Key{}, lb{})), found(lent, part), rules, knowing(nil))
		gated := map[plan.Action]bool{}
		for _, s := range p.Steps {
			gated[s.ID.Action] = !s.Gate.IsZero()
		}
		if gated[plan.Create] || gated[plan.Delete] != single || len(gated) != 2 {
			t.Errorf("single %v: %v are gated", single, gated)
		}
	}
	still := diff.Compare(wish(lent), found(lent, part), toyRules(), knowing(nil))
	if len(still.Steps) != 1 || !still.Steps[0].Gate.IsZero() {
		t.Errorf("a port that goes from a load balancer that stays: %v", lines(still))
	}
}

// TestSwitchFromShared: who leaves a load balancer to others has a switch like who deletes
// it, where another name is another load balancer.
func TestSwitchFromShared(t *testing.T) {
	part := owned(key("listener", "old"), key("lb", "shop"), listener{})
	for _, single := range []bool{true, false} {
		rules := toyRules()
		lbs := rules.Kinds["lb"]
		lbs.Single = single
		rules.Kinds["lb"] = lbs
		book := knowing(nil)
		book.Enter(stack.Owner{Name: "other"}, []stack.Resource{shared("shop")})
		p := diff.Compare(wish(owned(theLB, stack.Key{}, lb{})), found(shared("shop"), part), rules, book)
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
	other := owned(key("lb", "old"), stack.Key{}, lb{})
	part := owned(key("listener", "old"), other.Key, listener{})
	want := wish(owned(theLB, stack.Key{}, lb{}))
	if whole := diff.Compare(want, found(other, part), rules, knowing(nil)); len(whole.Blocked) > 0 || len(whole.Steps) < 2 {
		t.Fatalf("complete: %v, blocked %v", lines(whole), whole.Blocked)
	}
	want.Incomplete = "its rules follow"
	p := diff.Compare(want, found(other, part), rules, knowing(nil))
	if !p.Only(plan.ByIncomplete) || len(p.Blocked) == 0 || len(p.Steps) != 1 || p.Steps[0].ID.Action != plan.Create {
		t.Errorf("incomplete: %v, blocked %v", lines(p), p.Blocked)
	}
	p = diff.Compare(want, found(shared("old")), rules, ledger.New())
	if !p.AnyBlocked(plan.ByLedger) || p.AnyBlocked(plan.ByIncomplete) {
		t.Errorf("with unknown Services: blocked %v", p.Blocked)
	}
	if p := diff.Compare(want, found(owned(theLB, stack.Key{}, lb{}), owned(key("listener", "old"), theLB, listener{})), rules, knowing(nil)); len(p.Blocked) > 0 {
		t.Errorf("without a switch: blocked %v", p.Blocked)
	}
}
