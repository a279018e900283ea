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
				tc.ledger = knowing(nil)
			}
			got := diff.Compare(tc.want, tc.have, rules, tc.ledger)
			if d := cmp.Diff(tc.plan, lines(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func whole() []stack.Resource {
	return []stack.Resource{
		owned(theLB, stack.Key{}, lb{Scheme: "public"}),
		owned(key("group", "80"), stack.Key{}, group{Port: 30080}),
		owned(key("targets", "80"), key("group", "80"), targets{IDs: []string{"a", "b"}}),
		slot(owned(key("listener", "80"), theLB, listener{Protocol: "TCP", To: ref("group", "80")}), "port 80"),
		ruleFor("30080"),
	}
}

// changed is the whole stack with some resources exchanged or, without a spec,
// left out.
func changed(rs ...stack.Resource) []stack.Resource {
	s := &stack.Stack{Resources: whole()}
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
		"nothing to do": {want: wish(whole()...), have: found(whole()...)},
		"everything new": {want: wish(whole()...), have: found(), plan: []string{
			"create group/80",
			"create lb",
			"create listener/80 <- create group/80, create lb",
			"create rule/30080",
			"update targets/80 ids+ <- create group/80",
		}},
		"a nil wish releases in reverse": {want: nil, have: found(whole()...), plan: []string{
			"delete rule/30080",
			"delete lb <- delete rule/30080",
			"delete group/80 <- delete lb",
		}},
		"what is referred to by its identifier goes last as well": {
			have: found(owned(key("group", "80"), stack.Key{}, group{}), owned(key("x", ""), stack.Key{}, listener{To: stack.RefID("id-of-group/80")})),
			plan: []string{"delete x", "delete group/80 <- delete x"},
		},
		"an update that adds elsewhere does not let go": {
			want: wish(owned(key("x", ""), stack.Key{}, listener{To: ref("group", "81")}), owned(key("group", "81"), stack.Key{}, group{})),
			have: found(owned(key("x", ""), stack.Key{}, listener{To: ref("group", "80")}), owned(key("group", "80"), stack.Key{}, group{})),
			plan: []string{"create group/81", "update x <- create group/81", "delete group/80 <- update x"},
		},
	})
}

func TestReplacement(t *testing.T) {
	runCompare(t, map[string]compareCase{
		"referrers are pointed anew, then the old one goes": {
			want: wish(changed(owned(key("group", "80"), stack.Key{}, group{Port: 30081}))...), have: found(whole()...),
			plan: []string{
				"create group/80",
				"update targets/80 ids+ <- create group/80",
				"update listener/80 <- create group/80, update targets/80 ids+",
				"delete group/80 <- create group/80, update listener/80, update targets/80 ids+",
			},
			rules: func(r *diff.Rules) { r.Edges[2].Same = false },
		},
		"what cannot be pointed anew is replaced too": {
			want: wish(owned(key("a", ""), stack.Key{}, address{Name: "new"}), owned(key("b", ""), stack.Key{}, listener{To: ref("a", "")}), owned(key("c", ""), stack.Key{}, listener{To: ref("b", "")})),
			have: found(owned(key("a", ""), stack.Key{}, address{Name: "old"}), owned(key("b", ""), stack.Key{}, listener{To: ref("a", "")}), owned(key("c", ""), stack.Key{}, listener{To: ref("b", "")})),
			rules: func(r *diff.Rules) {
				r.Kinds["a"] = diff.Rule{Immutable: []string{"Name"}}
				r.Kinds["b"] = diff.Rule{Immutable: []string{"To"}}
			},
			plan: []string{
				"create a", "create b <- create a", "update c <- create b",
				"delete b <- create b, update c",
				"delete a <- create a, delete b",
			},
		},
		"parts come with the new parent and go with the old one": {
			want: wish(changed(owned(theLB, stack.Key{}, lb{Scheme: "private"}))...), have: found(whole()...),
			plan: []string{"create lb", "create listener/80 <- create lb", "delete lb <- create lb, create listener/80"},
		},
		"a part that does not go with its parent is made anew": {
			want: wish(owned(theLB, stack.Key{}, lb{Scheme: "private"}), owned(key("loose", ""), theLB, address{})),
			have: found(owned(theLB, stack.Key{}, lb{Scheme: "public"}), owned(key("loose", ""), theLB, address{})),
			plan: []string{"create lb", "create loose <- create lb", "delete loose <- create loose", "delete lb <- create lb, create loose, delete loose"},
		},
		"delete first, with parts": {
			want: wish(owned(key("address", ""), stack.Key{}, address{Name: "new"}), owned(key("targets", ""), key("address", ""), targets{IDs: []string{"a"}})),
			have: found(owned(key("address", ""), stack.Key{}, address{Name: "old"}), owned(key("targets", ""), key("address", ""), targets{IDs: []string{"b"}})),
			plan: []string{"delete address", "create address <- delete address", "update targets ids+ <- create address"},
		},
		"equal slots turn create first around": {
			want: wish(changed(slot(owned(key("listener", "80"), theLB, listener{Protocol: "UDP", To: ref("group", "80")}), "port 80"))...), have: found(whole()...),
			plan: []string{"delete listener/80", "create listener/80 <- delete listener/80"},
		},
		"another slot does not": {
			want: wish(changed(slot(owned(key("listener", "80"), theLB, listener{Protocol: "UDP", To: ref("group", "80")}), "port 81"))...), have: found(whole()...),
			plan: []string{"create listener/80", "delete listener/80 <- create listener/80"},
		},
	})
}

func TestReplacementImpactIsOneForBothHalves(t *testing.T) {
	p := diff.Compare(wish(owned(theLB, stack.Key{}, lb{Scheme: "private"})), found(owned(theLB, stack.Key{}, lb{Scheme: "public"})), toyRules(), knowing(nil))
	got := map[plan.Action]plan.Impact{}
	for _, s := range p.Steps {
		got[s.ID.Action] = s.Impact
	}
	if d := cmp.Diff(map[plan.Action]plan.Impact{plan.Create: plan.Brief, plan.Delete: plan.Brief}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p := p.Under(plan.NoInterrupt); len(p.Blocked) > 0 {
		t.Errorf("a replacement that is brief is held as an interruption: %v", lines(p))
	}
}

func TestSlots(t *testing.T) {
	on80 := func(name string) stack.Resource {
		return slot(owned(key("listener", name), theLB, listener{Protocol: name}), "port 80")
	}
	base := owned(theLB, stack.Key{}, lb{})
	runCompare(t, map[string]compareCase{
		"left before it is taken": {
			want: wish(base, on80("udp")), have: found(base, on80("tcp")),
			plan: []string{"delete listener/tcp", "create listener/udp <- delete listener/tcp"},
		},
		"by an update": {
			want:  wish(base, slot(owned(key("listener", "tcp"), theLB, listener{Protocol: "moved"}), "port 81"), on80("udp")),
			have:  found(base, on80("tcp")),
			rules: func(r *diff.Rules) { r.Kinds["listener"] = diff.Rule{Within: diff.Within{Cascade: true}} },
			plan:  []string{"update listener/tcp", "create listener/udp <- update listener/tcp"},
		},
		"by an update of another to it": {
			want:  wish(base, slot(owned(key("listener", "udp"), theLB, listener{Protocol: "moved"}), "port 80")),
			have:  found(base, on80("tcp"), slot(on80("udp"), "port 81")),
			rules: func(r *diff.Rules) { r.Kinds["listener"] = diff.Rule{Within: diff.Within{Cascade: true}} },
			plan:  []string{"delete listener/tcp", "update listener/udp <- delete listener/tcp"},
		},
		"of another load balancer": {
			want: wish(base, on80("udp")), have: found(base, slot(owned(key("listener", "tcp"), key("lb", "2"), listener{}), "port 80"), owned(key("lb", "2"), stack.Key{}, lb{})),
			plan: []string{"delete lb/2", "create listener/udp"},
		},
		"of a parent that goes": {
			want: wish(owned(theLB, stack.Key{}, lb{Scheme: "x"}), on80("udp")), have: found(base, on80("tcp")),
			plan: []string{"create lb", "create listener/udp <- create lb", "delete lb <- create lb, create listener/udp"},
		},
		"taken by somebody else's": {
			want: wish(base, on80("udp")), have: foreign(found(base, on80("tcp")), key("listener", "tcp")),
			plan: []string{"held create listener/udp: slot"},
		},
	})
}

func TestParts(t *testing.T) {
	base := owned(theLB, stack.Key{}, lb{})
	inPool := func(path string) stack.Resource {
		return owned(key("check", ""), key("pool", ""), check{Path: path, Pool: ref("pool", "")})
	}
	runCompare(t, map[string]compareCase{
		"inline in the parent's call, and in theirs": {
			want: wish(base, owned(key("pool", ""), theLB, pool{}), inPool("/")), have: found(),
			plan: []string{"create lb with pool, check"},
		},
		"alone where the parent is there": {
			want: wish(base, owned(key("pool", ""), theLB, pool{}), inPool("/")), have: found(base),
			plan: []string{"create pool with check"},
		},
		"what an inline part refers to comes first": {
			want: wish(base, owned(key("pool", ""), theLB, listener{To: ref("group", "80")}), owned(key("group", "80"), stack.Key{}, group{})), have: found(),
			plan: []string{"create group/80", "create lb with pool <- create group/80"},
		},
		"who refers to an inline part waits for its parent": {
			want: wish(base, owned(key("pool", ""), theLB, pool{}), owned(key("x", ""), stack.Key{}, listener{To: ref("pool", "")})), have: found(),
			plan: []string{"create lb with pool", "create x <- create lb"},
		},
		"cascading parts go without a step, their own parts too": {
			want: wish(), have: found(base, owned(key("pool", ""), theLB, pool{}), inPool("/")),
			plan: []string{"delete lb"},
		},
		"alone where the parent stays": {
			want: wish(base), have: found(base, owned(key("pool", ""), theLB, pool{}), inPool("/")),
			plan: []string{"delete pool"},
		},
		"inherent parts are never created": {
			want: wish(base, owned(key("attrs", ""), theLB, attrs{Idle: 30})), have: found(),
			plan: []string{"create lb", "update attrs <- create lb"},
		},
		"nor updated where the default is right": {
			want: wish(base, owned(key("attrs", ""), theLB, attrs{Idle: 60})), have: found(),
			plan: []string{"create lb"},
		},
		"nor deleted": {
			want: wish(base), have: found(base, owned(key("attrs", ""), theLB, attrs{Idle: 30})),
		},
		"of a replaced parent they start from the default": {
			want: wish(owned(theLB, stack.Key{}, lb{Scheme: "x"}), owned(key("attrs", ""), theLB, attrs{Idle: 30})), have: found(base, owned(key("attrs", ""), theLB, attrs{Idle: 30})),
			plan: []string{"create lb", "update attrs <- create lb", "delete lb <- update attrs, create lb"},
		},
		"what refers to an inherent part waits for its parent": {
			want: wish(base, owned(key("attrs", ""), theLB, attrs{Idle: 60}), owned(key("x", ""), stack.Key{}, listener{To: ref("attrs", "")})), have: found(),
			plan: []string{"create lb", "create x <- create lb"},
		},
		"an inherent part that refers to a replaced resource is written again": {
			want:  wish(base, owned(key("uses", ""), theLB, listener{To: ref("group", "80")}), owned(key("group", "80"), stack.Key{}, group{Port: 2})),
			have:  found(base, owned(key("uses", ""), theLB, listener{To: ref("group", "80")}), owned(key("group", "80"), stack.Key{}, group{Port: 1})),
			rules: func(r *diff.Rules) { r.Kinds["uses"] = diff.Rule{Within: diff.Within{Inherent: true}} },
			plan:  []string{"create group/80", "update uses <- create group/80", "delete group/80 <- create group/80, update uses"},
		},
		"external ones are never written": {
			want: wish(stack.Resource{Key: theLB, Ownership: stack.External, Spec: lb{Scheme: "a"}}),
			have: found(stack.Resource{Key: theLB, Ownership: stack.External, Spec: lb{Scheme: "b"}}),
		},
		"nor missed": {
			want: wish(stack.Resource{Key: theLB, Ownership: stack.External}), have: found(),
		},
		"nor released": {
			want: wish(), have: found(stack.Resource{Key: theLB, Ownership: stack.External}),
		},
	})
}

func TestSets(t *testing.T) {
	in := func(ids ...string) *stack.Stack {
		return found(owned(key("group", ""), stack.Key{}, group{}), owned(key("targets", ""), key("group", ""), targets{IDs: ids}))
	}
	want := func(ids ...string) *stack.Stack {
		return wish(owned(key("group", ""), stack.Key{}, group{}), owned(key("targets", ""), key("group", ""), targets{IDs: ids}))
	}
	zones := func(z ...string) stack.Resource { return owned(theLB, stack.Key{}, lb{Zones: z}) }
	runCompare(t, map[string]compareCase{
		"order and doubles mean nothing": {want: want("a", "b", "a"), have: in("b", "a")},
		"in chunks, all adding before any removing": {want: want("1", "2", "3", "4", "5"), have: in("a", "b", "c"), plan: []string{
			"update targets ids+", "update targets ids+2", "update targets ids+3",
			"update targets ids- <- update targets ids+, update targets ids+2, update targets ids+3",
			"update targets ids-2 <- update targets ids+, update targets ids+2, update targets ids+3",
		}},
		"a member that is wanted twice is added once": {want: want("a", "a"), have: in(), plan: []string{"update targets ids+"}},
		"removing first": {want: wish(zones("1a")), have: found(zones("1b")), plan: []string{
			"update lb zones-", "update lb zones+ <- update lb zones-",
		}},
		"sticky: empty means as found":      {want: wish(zones([]string{}...)), have: found(zones("1b"))},
		"sticky: empty but there means too": {want: wish(zones(make([]string, 0)...)), have: found(zones("1b"))},
	})
}

func TestFields(t *testing.T) {
	one := func(l lb) stack.Resource { return owned(theLB, stack.Key{}, l) }
	runCompare(t, map[string]compareCase{
		"ignored":                    {want: wish(one(lb{Note: "a"})), have: found(one(lb{Note: "b"}))},
		"sticky":                     {want: wish(one(lb{})), have: found(one(lb{DNS: "x"}))},
		"sticky and wanted":          {want: wish(one(lb{DNS: "y"})), have: found(one(lb{DNS: "x"})), plan: []string{"update lb"}},
		"nil is empty":               {want: wish(one(lb{Tags: []string{}})), have: found(one(lb{}))},
		"a call of its own per part": {want: wish(one(lb{Tags: []string{"a"}, DNS: "y"})), have: found(one(lb{DNS: "x"})), plan: []string{"update lb", "update lb tags"}},
		"looser than equal": {
			want: wish(owned(key("listener", ""), stack.Key{}, listener{Policy: "A"})), have: found(owned(key("listener", ""), stack.Key{}, listener{Policy: "a"})),
		},
	})
	p := diff.Compare(wish(one(lb{Tags: []string{"a"}, Note: "n"})), found(one(lb{DNS: "as found"})), toyRules(), knowing(nil))
	got := p.Steps[0].Target
	want := stack.Resource{Key: theLB, ID: "id-of-lb", Proof: stack.Tag, Spec: lb{Tags: []string{"a"}, Note: "n", DNS: "as found"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a step must carry what is sticky, or its call resets it (-want +got):\n%s", d)
	}
	if p.Steps[0].Impact != plan.Brief {
		t.Errorf("impact %q, want that of the changed field", p.Steps[0].Impact)
	}
}
