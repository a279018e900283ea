package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

type compareCase struct {
	want, have *stack.Stack
	ledger     *ledger.Ledger
	rules      func(*diff.Rules)
	plan       []string
}

func runCompare(t *testing.T, cases map[string]compareCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rules := toyRules()
			if tc.rules != nil {
				tc.rules(&rules)
			}
			if tc.ledger == nil {
				tc.ledger = ledgerWith(nil)
			}
			got := diff.Compare(tc.want, tc.have, rules, tc.ledger)
			if d := cmp.Diff(tc.plan, planLines(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func wholeStack() []stack.Resource {
	return []stack.Resource{
		ownedResource(theLB, stack.Key{}, lb{Scheme: "public"}),
		ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 30080}),
		ownedResource(newKey("targets", "80"), newKey("group", "80"), targets{IDs: []string{"a", "b"}}),
		withSlot(ownedResource(newKey("listener", "80"), theLB, listener{Protocol: "TCP", To: newRef("group", "80")}), "port 80"),
		ruleFor("30080"),
	}
}

// withChanges returns the whole stack with some resources exchanged or, without a spec,
// left out.
func withChanges(rs ...stack.Resource) []stack.Resource {
	s := &stack.Stack{Resources: wholeStack()}
	for _, r := range rs {
		if r.Spec == nil {
			s.Drop(r.Key)
			continue
		}
		s.Put(r)
	}
	return s.Resources
}

func TestOrder(t *testing.T) {
	runCompare(t, map[string]compareCase{
		"nothing to do": {want: desiredStack(wholeStack()...), have: observedStack(wholeStack()...)},
		"everything new": {want: desiredStack(wholeStack()...), have: observedStack(), plan: []string{
			"create group/80",
			"create lb",
			"create listener/80 <- create group/80, create lb",
			"create rule/30080",
			"update targets/80 ids+ <- create group/80",
		}},
		"a nil wish releases in reverse": {want: nil, have: observedStack(wholeStack()...), plan: []string{
			"delete rule/30080",
			"delete lb <- delete rule/30080",
			"delete group/80 <- delete lb",
		}},
		"what is referred to by its identifier goes last as well": {
			have: observedStack(ownedResource(newKey("group", "80"), stack.Key{}, group{}), ownedResource(newKey("x", ""), stack.Key{}, listener{To: stack.RefID("id-of-group/80")})),
			plan: []string{"delete x", "delete group/80 <- delete x"},
		},
		"an update that adds elsewhere does not let go": {
			want: desiredStack(ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("group", "81")}), ownedResource(newKey("group", "81"), stack.Key{}, group{})),
			have: observedStack(ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("group", "80")}), ownedResource(newKey("group", "80"), stack.Key{}, group{})),
			plan: []string{"create group/81", "update x <- create group/81", "delete group/80 <- update x"},
		},
	})
}

func TestReplacement(t *testing.T) {
	runCompare(t, map[string]compareCase{
		"referrers are updated, then the old one is deleted": {
			want: desiredStack(withChanges(ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 30081}))...), have: observedStack(wholeStack()...),
			plan: []string{
				"create group/80",
				"update targets/80 ids+ <- create group/80",
				"update listener/80 <- create group/80, update targets/80 ids+",
				"delete group/80 <- create group/80, update listener/80, update targets/80 ids+",
			},
			rules: func(r *diff.Rules) { r.Edges[2].Same = false },
		},
		"what cannot be updated is replaced too": {
			want: desiredStack(ownedResource(newKey("a", ""), stack.Key{}, address{Name: "new"}), ownedResource(newKey("b", ""), stack.Key{}, listener{To: newRef("a", "")}), ownedResource(newKey("c", ""), stack.Key{}, listener{To: newRef("b", "")})),
			have: observedStack(ownedResource(newKey("a", ""), stack.Key{}, address{Name: "old"}), ownedResource(newKey("b", ""), stack.Key{}, listener{To: newRef("a", "")}), ownedResource(newKey("c", ""), stack.Key{}, listener{To: newRef("b", "")})),
			rules: func(r *diff.Rules) {
				r.Kinds["a"] = diff.Rule{Fields: diff.Fields{Immutable: []string{"Name"}}}
				r.Kinds["b"] = diff.Rule{Fields: diff.Fields{Immutable: []string{"To"}}}
			},
			plan: []string{
				"create a", "create b <- create a", "update c <- create b",
				"delete b <- create b, update c",
				"delete a <- create a, delete b",
			},
		},
		"parts come with the new parent and go with the old one": {
			want: desiredStack(withChanges(ownedResource(theLB, stack.Key{}, lb{Scheme: "private"}))...), have: observedStack(wholeStack()...),
			plan: []string{"create lb", "create listener/80 <- create lb", "delete lb <- create lb, create listener/80"},
		},
		"a part that is not deleted with its parent is created again": {
			want: desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "private"}), ownedResource(newKey("loose", ""), theLB, address{})),
			have: observedStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "public"}), ownedResource(newKey("loose", ""), theLB, address{})),
			plan: []string{"create lb", "create loose <- create lb", "delete loose <- create loose", "delete lb <- create lb, create loose, delete loose"},
		},
		"delete first, with parts": {
			want: desiredStack(ownedResource(newKey("address", ""), stack.Key{}, address{Name: "new"}), ownedResource(newKey("targets", ""), newKey("address", ""), targets{IDs: []string{"a"}})),
			have: observedStack(ownedResource(newKey("address", ""), stack.Key{}, address{Name: "old"}), ownedResource(newKey("targets", ""), newKey("address", ""), targets{IDs: []string{"b"}})),
			plan: []string{"delete address", "create address <- delete address", "update targets ids+ <- create address"},
		},
		"equal slots turn create first around": {
			want: desiredStack(withChanges(withSlot(ownedResource(newKey("listener", "80"), theLB, listener{Protocol: "UDP", To: newRef("group", "80")}), "port 80"))...), have: observedStack(wholeStack()...),
			plan: []string{"delete listener/80", "create listener/80 <- delete listener/80"},
		},
		"another slot does not": {
			want: desiredStack(withChanges(withSlot(ownedResource(newKey("listener", "80"), theLB, listener{Protocol: "UDP", To: newRef("group", "80")}), "port 81"))...), have: observedStack(wholeStack()...),
			plan: []string{"create listener/80", "delete listener/80 <- create listener/80"},
		},
	})
}

func TestReplacementImpactIsOneForBothHalves(t *testing.T) {
	p := diff.Compare(desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "private"})), observedStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "public"})), toyRules(), ledgerWith(nil))
	got := map[plan.Action]plan.Impact{}
	for _, s := range p.Steps {
		got[s.ID.Action] = s.Impact
	}
	if d := cmp.Diff(map[plan.Action]plan.Impact{plan.Create: plan.Brief, plan.Delete: plan.Brief}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p := p.Under(plan.NoInterrupt); len(p.Blocked) > 0 {
		t.Errorf("a replacement that is brief is held as an interruption: %v", planLines(p))
	}
}

func TestSlots(t *testing.T) {
	on80 := func(name string) stack.Resource {
		return withSlot(ownedResource(newKey("listener", name), theLB, listener{Protocol: name}), "port 80")
	}
	base := ownedResource(theLB, stack.Key{}, lb{})
	runCompare(t, map[string]compareCase{
		"left before it is taken": {
			want: desiredStack(base, on80("udp")), have: observedStack(base, on80("tcp")),
			plan: []string{"delete listener/tcp", "create listener/udp <- delete listener/tcp"},
		},
		"by an update": {
			want:  desiredStack(base, withSlot(ownedResource(newKey("listener", "tcp"), theLB, listener{Protocol: "moved"}), "port 81"), on80("udp")),
			have:  observedStack(base, on80("tcp")),
			rules: func(r *diff.Rules) { r.Kinds["listener"] = diff.Rule{Within: diff.Within{Cascade: true}} },
			plan:  []string{"update listener/tcp", "create listener/udp <- update listener/tcp"},
		},
		"by an update of another to it": {
			want:  desiredStack(base, withSlot(ownedResource(newKey("listener", "udp"), theLB, listener{Protocol: "moved"}), "port 80")),
			have:  observedStack(base, on80("tcp"), withSlot(on80("udp"), "port 81")),
			rules: func(r *diff.Rules) { r.Kinds["listener"] = diff.Rule{Within: diff.Within{Cascade: true}} },
			plan:  []string{"delete listener/tcp", "update listener/udp <- delete listener/tcp"},
		},
		"of another load balancer": {
			want: desiredStack(base, on80("udp")), have: observedStack(base, withSlot(ownedResource(newKey("listener", "tcp"), newKey("lb", "2"), listener{}), "port 80"), ownedResource(newKey("lb", "2"), stack.Key{}, lb{})),
			plan: []string{"delete lb/2", "create listener/udp"},
		},
		"of a parent that goes": {
			want: desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "x"}), on80("udp")), have: observedStack(base, on80("tcp")),
			plan: []string{"create lb", "create listener/udp <- create lb", "delete lb <- create lb, create listener/udp"},
		},
		"taken by another owner's": {
			want: desiredStack(base, on80("udp")), have: clearProof(observedStack(base, on80("tcp")), newKey("listener", "tcp")),
			plan: []string{"held create listener/udp: slot"},
		},
	})
}

func TestParts(t *testing.T) {
	base := ownedResource(theLB, stack.Key{}, lb{})
	inPool := func(path string) stack.Resource {
		return ownedResource(newKey("check", ""), newKey("pool", ""), check{Path: path, Pool: newRef("pool", "")})
	}
	runCompare(t, map[string]compareCase{
		"inline in the parent's call, and in theirs": {
			want: desiredStack(base, ownedResource(newKey("pool", ""), theLB, pool{}), inPool("/")), have: observedStack(),
			plan: []string{"create lb with pool, check"},
		},
		"alone where the parent is there": {
			want: desiredStack(base, ownedResource(newKey("pool", ""), theLB, pool{}), inPool("/")), have: observedStack(base),
			plan: []string{"create pool with check"},
		},
		"what an inline part refers to comes first": {
			want: desiredStack(base, ownedResource(newKey("pool", ""), theLB, listener{To: newRef("group", "80")}), ownedResource(newKey("group", "80"), stack.Key{}, group{})), have: observedStack(),
			plan: []string{"create group/80", "create lb with pool <- create group/80"},
		},
		"who refers to an inline part waits for its parent": {
			want: desiredStack(base, ownedResource(newKey("pool", ""), theLB, pool{}), ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("pool", "")})), have: observedStack(),
			plan: []string{"create lb with pool", "create x <- create lb"},
		},
		"cascading parts go without a step, their own parts too": {
			want: desiredStack(), have: observedStack(base, ownedResource(newKey("pool", ""), theLB, pool{}), inPool("/")),
			plan: []string{"delete lb"},
		},
		"alone where the parent stays": {
			want: desiredStack(base), have: observedStack(base, ownedResource(newKey("pool", ""), theLB, pool{}), inPool("/")),
			plan: []string{"delete pool"},
		},
		"inherent parts are never created": {
			want: desiredStack(base, ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 30})), have: observedStack(),
			plan: []string{"create lb", "update attrs <- create lb"},
		},
		"nor updated where the default is right": {
			want: desiredStack(base, ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 60})), have: observedStack(),
			plan: []string{"create lb"},
		},
		"nor deleted": {
			want: desiredStack(base), have: observedStack(base, ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 30})),
		},
		"of a replaced parent they start from the default": {
			want: desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "x"}), ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 30})), have: observedStack(base, ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 30})),
			plan: []string{"create lb", "update attrs <- create lb", "delete lb <- update attrs, create lb"},
		},
		"what refers to an inherent part waits for its parent": {
			want: desiredStack(base, ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 60}), ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("attrs", "")})), have: observedStack(),
			plan: []string{"create lb", "create x <- create lb"},
		},
		"an inherent part that refers to a replaced resource is written again": {
			want:  desiredStack(base, ownedResource(newKey("uses", ""), theLB, listener{To: newRef("group", "80")}), ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 2})),
			have:  observedStack(base, ownedResource(newKey("uses", ""), theLB, listener{To: newRef("group", "80")}), ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 1})),
			rules: func(r *diff.Rules) { r.Kinds["uses"] = diff.Rule{Within: diff.Within{Inherent: true}} },
			plan:  []string{"create group/80", "update uses <- create group/80", "delete group/80 <- create group/80, update uses"},
		},
		"external ones are never written": {
			want: desiredStack(stack.Resource{Key: theLB, Ownership: stack.External, Spec: lb{Scheme: "a"}}),
			have: observedStack(stack.Resource{Key: theLB, Ownership: stack.External, Spec: lb{Scheme: "b"}}),
		},
		"nor missed": {
			want: desiredStack(stack.Resource{Key: theLB, Ownership: stack.External}), have: observedStack(),
		},
		"nor released": {
			want: desiredStack(), have: observedStack(stack.Resource{Key: theLB, Ownership: stack.External}),
		},
	})
}

func TestSets(t *testing.T) {
	in := func(ids ...string) *stack.Stack {
		return observedStack(ownedResource(newKey("group", ""), stack.Key{}, group{}), ownedResource(newKey("targets", ""), newKey("group", ""), targets{IDs: ids}))
	}
	want := func(ids ...string) *stack.Stack {
		return desiredStack(ownedResource(newKey("group", ""), stack.Key{}, group{}), ownedResource(newKey("targets", ""), newKey("group", ""), targets{IDs: ids}))
	}
	zones := func(z ...string) stack.Resource { return ownedResource(theLB, stack.Key{}, lb{Zones: z}) }
	runCompare(t, map[string]compareCase{
		"order and doubles mean nothing": {want: want("a", "b", "a"), have: in("b", "a")},
		"in chunks, all adding before any removing": {want: want("1", "2", "3", "4", "5"), have: in("a", "b", "c"), plan: []string{
			"update targets ids+", "update targets ids+2", "update targets ids+3",
			"update targets ids- <- update targets ids+, update targets ids+2, update targets ids+3",
			"update targets ids-2 <- update targets ids+, update targets ids+2, update targets ids+3",
		}},
		"a member that is wanted twice is added once": {want: want("a", "a"), have: in(), plan: []string{"update targets ids+"}},
		"removing first": {want: desiredStack(zones("1a")), have: observedStack(zones("1b")), plan: []string{
			"update lb zones-", "update lb zones+ <- update lb zones-",
		}},
		"sticky: empty means as found":      {want: desiredStack(zones([]string{}...)), have: observedStack(zones("1b"))},
		"sticky: empty but there means too": {want: desiredStack(zones(make([]string, 0)...)), have: observedStack(zones("1b"))},
	})
}

func TestFields(t *testing.T) {
	one := func(l lb) stack.Resource { return ownedResource(theLB, stack.Key{}, l) }
	runCompare(t, map[string]compareCase{
		"ignored":                    {want: desiredStack(one(lb{Note: "a"})), have: observedStack(one(lb{Note: "b"}))},
		"sticky":                     {want: desiredStack(one(lb{})), have: observedStack(one(lb{DNS: "x"}))},
		"sticky and wanted":          {want: desiredStack(one(lb{DNS: "y"})), have: observedStack(one(lb{DNS: "x"})), plan: []string{"update lb"}},
		"nil is empty":               {want: desiredStack(one(lb{Tags: []string{}})), have: observedStack(one(lb{}))},
		"a call of its own per part": {want: desiredStack(one(lb{Tags: []string{"a"}, DNS: "y"})), have: observedStack(one(lb{DNS: "x"})), plan: []string{"update lb", "update lb tags"}},
		"looser than equal": {
			want: desiredStack(ownedResource(newKey("listener", ""), stack.Key{}, listener{Policy: "A"})), have: observedStack(ownedResource(newKey("listener", ""), stack.Key{}, listener{Policy: "a"})),
		},
	})
	p := diff.Compare(desiredStack(one(lb{Tags: []string{"a"}, Note: "n"})), observedStack(one(lb{DNS: "as found"})), toyRules(), ledgerWith(nil))
	got := p.Steps[0].Target
	want := stack.Resource{Key: theLB, ID: "id-of-lb", Proof: stack.Tag, Spec: lb{Tags: []string{"a"}, Note: "n", DNS: "as found"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a step must carry what is sticky, or its call resets it (-want +got):\n%s", d)
	}
	if p.Steps[0].Impact != plan.Brief {
		t.Errorf("impact %q, want that of the changed field", p.Steps[0].Impact)
	}
}
