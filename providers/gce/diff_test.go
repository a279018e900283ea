package gce

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// TestReservingIsNotHeld: while an address is only being reserved, after a restart of
// the controller say, the rule whose IP it is to hold stays.
func TestReservingIsNotHeld(t *testing.T) {
	address := stack.Resource{Key: stack.Key{Kind: KindAddress, Name: "v4"}, ID: "held", Proof: stack.Name, Spec: Address{Name: "held", Type: "EXTERNAL", IPVersion: "IPV4", IP: "192.0.2.1"}}
	rule := stack.Resource{Key: stack.Key{Kind: KindExternalRule, Name: "v4"}, ID: "rule", Proof: stack.Name, Spec: Rule{Name: "rule", Scheme: "EXTERNAL", IPVersion: "IPV4", IP: "192.0.2.1", Protocol: "TCP", Ports: Ports{Range: "80-80"}}}
	wanted := rule
	wanted.Spec = Rule{Name: "rule", Scheme: "EXTERNAL", IPVersion: "IPV4", Address: stack.RefTo(address.Key), Protocol: "TCP", Ports: Ports{Range: "80-81"}}
	want := &stack.Stack{Resources: []stack.Resource{address, wanted}}
	book := ledger.New()
	book.SetReady()
	for state, goes := range map[stack.State]bool{stack.Pending: false, stack.Ready: true} {
		address.State = state
		got := diff.Compare(want, &stack.Stack{Resources: []stack.Resource{address, rule}}, Rules(), book)
		if does := slices.ContainsFunc(got.Steps, func(s plan.Step) bool { return s.ID.Action == plan.Delete }); does != goes {
			t.Errorf("state %v: the rule goes: %v, want %v", state, does, goes)
		}
	}
}
