package model

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

// TestCollectionIsTheClouds: the prefix that Google shows of an IPv6 address is no reason to
// replace what has it where none was asked for, in whichever form it is written; another
// one than was asked for is.
func TestCollectionIsTheClouds(t *testing.T) {
	const prefix = "projects/p/regions/r/publicDelegatedPrefixes/ours"
	of := func(spec func(collection string) stack.Spec, kind stack.Kind, collection string) *stack.Stack {
		return &stack.Stack{Resources: []stack.Resource{{Key: stack.Key{Kind: kind, Name: "ipv6"}, ID: "it", Proof: stack.Name, Spec: spec(collection)}}}
	}
	book := ledger.New()
	book.SetReady()
	for kind, spec := range map[stack.Kind]func(string) stack.Spec{
		KindExternalRule: func(c string) stack.Spec {
			return Rule{Name: "it", Scheme: "EXTERNAL", IPVersion: "IPV6", IP: "2001:db8::/96", Protocol: "TCP", Ports: Ports{Range: "80-80"}, IPCollection: c}
		},
		KindAddress: func(c string) stack.Spec {
			return Address{Name: "it", Type: "EXTERNAL", IPVersion: "IPV6", IP: "2001:db8::/96", IPCollection: c}
		},
	} {
		for name, tc := range map[string]struct {
			want, have string
			steps      bool
		}{
			"none asked for":            {"", "https://www.googleapis.com/compute/v1/" + prefix, false},
			"the same, in another form": {prefix, "https://www.googleapis.com/compute/v1/" + prefix, false},
			"another one":               {prefix, "projects/p/regions/r/publicDelegatedPrefixes/theirs", true},
			"asked for, and has none":   {prefix, "", true},
		} {
			got := diff.Compare(of(spec, kind, tc.want), of(spec, kind, tc.have), Rules(), book)
			if steps := len(got.Steps) > 0; steps != tc.steps {
				t.Errorf("%s, %s: steps %v, want %v", kind, name, steps, tc.steps)
			}
		}
	}
}
