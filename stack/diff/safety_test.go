package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

func TestCounted(t *testing.T) {
	base := ownedResource(theLB, stack.Key{}, lb{})
	unsure := ledgerWith(nil)
	unsure.EnterUnknown(stack.Owner{Name: "other", UID: "9"}, func(stack.Resource) bool { return true })
	runCompare(t, map[string]compareCase{
		"deleted with the last one":  {want: desiredStack(), have: observedStack(ruleFor("80")), plan: []string{"delete rule/80"}},
		"forgotten while others use": {want: desiredStack(), have: observedStack(ruleFor("80")), ledger: ledgerWith(map[string][]string{"b": {"80"}}), plan: []string{"forget rule/80"}},
		"or might use":               {want: desiredStack(), have: observedStack(ruleFor("80")), ledger: unsure, plan: []string{"forget rule/80"}},
		"another entry is no use":    {want: desiredStack(), have: observedStack(ruleFor("80")), ledger: ledgerWith(map[string][]string{"b": {"81"}}), plan: []string{"delete rule/80"}},
		"held until all Services are known, with what it is the evidence of": {
			want: desiredStack(), have: observedStack(base, ruleFor("80")), ledger: ledger.New(),
			plan: []string{"held delete rule/80: ledger", "held delete lb: needs delete rule/80"},
		},
		"a use that is known is enough": {
			want: desiredStack(), have: observedStack(base, ruleFor("80")), ledger: func() *ledger.Ledger {
				l := ledger.New()
				l.Enter(stack.Owner{Name: "b"}, []stack.Resource{ruleFor("80")})
				return l
			}(),
			plan: []string{"delete lb", "forget rule/80"},
		},
		"grants before revokes": {
			want: desiredStack(ruleFor("81")), have: observedStack(ruleFor("80")), plan: []string{"create rule/81", "delete rule/80 <- create rule/81"},
		},
		"what others use is not replaced": {
			want: desiredStack(stack.Resource{Key: ruleFor("80").Key, In: theNodes, Ownership: stack.Shared, Spec: rule{Allow: "other"}}), have: observedStack(ruleFor("80")),
			ledger: ledgerWith(map[string][]string{"b": {"80"}}),
			rules:  func(r *diff.Rules) { r.Kinds["rule"] = diff.Rule{Fields: diff.Fields{Immutable: []string{"Allow"}}} },
			plan:   []string{"held create rule/80: needs delete rule/80", "held delete rule/80: ledger"},
		},
		"another owner's rule that is as wanted is used": {
			want: desiredStack(ruleFor("80")), have: clearProof(observedStack(ruleFor("80")), newKey("rule", "80")),
		},
		"another owner's rule that differs is left alone": {
			want: desiredStack(stack.Resource{Key: ruleFor("80").Key, In: theNodes, Ownership: stack.Shared, Spec: rule{Allow: "other"}}), have: clearProof(observedStack(ruleFor("80")), newKey("rule", "80")),
			plan: []string{"held create rule/80: proof"},
		},
		"what has no owner is deleted by any run that finds it": {want: desiredStack(), have: markLeftover(observedStack(ruleFor("80"))), plan: []string{"delete rule/80"}},
		"and is not forgotten while others use it":              {want: desiredStack(), have: markLeftover(observedStack(ruleFor("80"))), ledger: ledgerWith(map[string][]string{"b": {"80"}})},
		"and is kept when no Service desires it":                {want: desiredStack(), have: clearProof(observedStack(ruleFor("80")), newKey("rule", "80"))},
	})
}

func TestForeign(t *testing.T) {
	others := func(k stack.Key) *stack.Stack { return clearProof(observedStack(wholeStack()...), k) }
	differ := withChanges(ownedResource(theLB, stack.Key{}, lb{Scheme: "other", Tags: []string{"x"}}))
	runCompare(t, map[string]compareCase{
		"held with all that is in it": {
			want: desiredStack(append(differ, ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 1}), ownedResource(newKey("pool", ""), theLB, pool{}))...), have: others(theLB),
			plan: []string{
				"held create lb: proof",
				"held update attrs: needs create lb",
				"held create listener/80: needs create lb",
			},
		},
		"even where it is as wanted: it is not ours to use": {
			want: desiredStack(wholeStack()...), have: others(theLB),
			plan: []string{"held create lb: proof", "held create listener/80: needs create lb"},
		},
		"held with all that refers to it": {
			want: desiredStack(withChanges(ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 1}), stack.Resource{Key: newKey("listener", "80")}, ownedResource(newKey("listener", "new"), theLB, listener{To: newRef("group", "80")}))...),
			have: clearProof(observedStack(withChanges(stack.Resource{Key: newKey("listener", "80")})...), newKey("group", "80")),
			plan: []string{
				"held create group/80: proof",
				"held create listener/new: needs create group/80",
				"held update targets/80 ids+: needs create group/80",
			},
		},
		"never deleted, nor are its parts": {
			want: desiredStack(), have: clearProof(observedStack(ownedResource(theLB, stack.Key{}, lb{})), theLB),
		},
		"parts of another owner's are not ours, whatever proves them": {
			want: desiredStack(ownedResource(theLB, stack.Key{}, lb{})),
			have: clearProof(observedStack(ownedResource(theLB, stack.Key{}, lb{}), ownedResource(newKey("listener", "1"), theLB, listener{})), theLB),
			plan: []string{"held create lb: proof"},
		},
	})
}

// inMaking is a resource that the cloud is still making.
func inMaking(r stack.Resource) stack.Resource {
	r.State = stack.Pending
	return r
}

func TestKindSwitch(t *testing.T) {
	old := ownedResource(newKey("old-lb", ""), stack.Key{}, lb{})
	base := ownedResource(theLB, stack.Key{}, lb{})
	second := ownedResource(newKey("lb", "2"), stack.Key{}, lb{})
	runCompare(t, map[string]compareCase{
		"the old one and what goes with it wait for the switch": {
			want: desiredStack(base), have: observedStack(old, ruleFor("80")),
			plan: []string{"create lb", "delete old-lb <- create lb @1m0s", "delete rule/80 <- create lb @1m0s"},
		},
		"also when the new one is there already": {
			want: desiredStack(base), have: observedStack(base, old), plan: []string{"delete old-lb @1m0s"},
		},
		"the old one stays while the new one is not ready": {
			want: desiredStack(base), have: observedStack(inMaking(base), old, ruleFor("80")),
			plan: []string{"held update lb settle: busy", "held delete old-lb: needs update lb settle", "held delete rule/80: needs update lb settle"},
		},
		"no step waits for what is not desired": {
			want: desiredStack(base), have: observedStack(base, inMaking(old)), plan: []string{"delete old-lb @1m0s"},
		},
		"a release waits for nothing": {want: desiredStack(), have: observedStack(old), plan: []string{"delete old-lb"}},
		"one of several of a kind is no switch": {
			want: desiredStack(base), have: observedStack(base, second), plan: []string{"delete lb/2"},
		},
		"what is in the way of the new one does not wait": {
			want: desiredStack(base, withSlot(ownedResource(newKey("x", ""), stack.Key{}, address{}), "ip")), have: observedStack(old, withSlot(ownedResource(newKey("y", ""), stack.Key{}, address{}), "ip")),
			plan: []string{"create lb", "delete y", "create x <- delete y", "delete old-lb <- create lb, create x @1m0s"},
		},
		"a replacement is no switch": {
			want: desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "x"})), have: observedStack(base), plan: []string{"create lb", "delete lb <- create lb"},
		},
	})
}

func TestCycles(t *testing.T) {
	edge := func(a, b string) diff.Edge {
		return diff.Edge{First: diff.Match{Kind: stack.Kind(a)}, Then: diff.Match{Kind: stack.Kind(b)}, Reason: "test"}
	}
	x := func(kind string) stack.Resource { return ownedResource(newKey(kind, ""), stack.Key{}, address{}) }
	behind := ownedResource(newKey("d", ""), stack.Key{}, listener{To: newRef("a", "")})
	runCompare(t, map[string]compareCase{
		"are held with all behind them, and nothing else": {
			want: desiredStack(x("a"), x("b"), x("c"), behind), have: observedStack(),
			rules: func(r *diff.Rules) { r.Edges = []diff.Edge{edge("a", "b"), edge("b", "a")} },
			plan:  []string{"create c", "held create a: cycle", "held create b: cycle", "held create d: needs create a"},
		},
		"a referrer of what must be deleted first waits for itself": {
			want: desiredStack(ownedResource(newKey("address", ""), stack.Key{}, address{Name: "new"}), ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("address", "")})),
			have: observedStack(ownedResource(newKey("address", ""), stack.Key{}, address{Name: "old"}), ownedResource(newKey("x", ""), stack.Key{}, listener{To: newRef("address", "")})),
			plan: []string{"held create address: cycle", "held delete address: cycle", "held update x: cycle"},
		},
	})
}

func TestEdges(t *testing.T) {
	a := ownedResource(newKey("a", ""), newKey("p", "1"), address{})
	b := ownedResource(newKey("b", ""), newKey("p", "2"), address{})
	sibling := ownedResource(newKey("b", ""), newKey("p", "1"), address{})
	refers := ownedResource(newKey("b", ""), stack.Key{}, listener{To: newRef("p", "1")})
	edge := func(same bool) func(*diff.Rules) {
		return func(r *diff.Rules) {
			r.Kinds["a"], r.Kinds["b"] = diff.Rule{}, diff.Rule{}
			r.Kinds["p"] = diff.Rule{}
			r.Edges = []diff.Edge{{First: diff.Match{Action: plan.Create, Kind: "b"}, Then: diff.Match{Action: plan.Create, Kind: "a"}, Same: same, Reason: "test"}}
		}
	}
	runCompare(t, map[string]compareCase{
		"everywhere":                           {want: desiredStack(a, b), have: observedStack(), rules: edge(false), plan: []string{"create b", "create a <- create b"}},
		"only the related: others":             {want: desiredStack(a, b), have: observedStack(), rules: edge(true), plan: []string{"create a", "create b"}},
		"only the related: siblings":           {want: desiredStack(a, sibling), have: observedStack(), rules: edge(true), plan: []string{"create b", "create a <- create b"}},
		"only the related: refers to a parent": {want: desiredStack(a, refers), have: observedStack(), rules: edge(true), plan: []string{"create b", "create a <- create b"}},
	})
}

// TestSoftEdge: what a creation needs to be gone is not behind it, nor behind another one.
func TestSoftEdge(t *testing.T) {
	at := func(name, slot string) stack.Resource {
		r := ownedResource(newKey("a", name), stack.Key{}, address{})
		r.Slot = slot
		return r
	}
	soft := func(r *diff.Rules) {
		r.Kinds["a"] = diff.Rule{}
		r.Edges = []diff.Edge{{First: diff.Match{Action: plan.Create, Kind: "a"}, Then: diff.Match{Action: plan.Delete, Kind: "a"}, Soft: true, Reason: "test"}}
	}
	runCompare(t, map[string]compareCase{
		"behind": {want: desiredStack(at("1", "x")), have: observedStack(at("2", "y")), rules: soft, plan: []string{"create a/1", "delete a/2 <- create a/1"}},
		"not what is in the place": {want: desiredStack(at("1", "x"), at("3", "z")), have: observedStack(at("2", "x"), at("4", "z")), rules: soft,
			plan: []string{"delete a/2", "create a/1 <- delete a/2", "delete a/4", "create a/3 <- delete a/4"}},
	})
}

func TestWhyNamesTheUsers(t *testing.T) {
	l := ledgerWith(map[string][]string{"b": {"80"}, "c": {"80"}, "d": {"80"}, "e": {"80"}, "f": {"80"}})
	p := diff.Compare(desiredStack(), observedStack(ruleFor("80")), toyRules(), l)
	if d := cmp.Diff("stays, used by ns/b, ns/c, ns/d and 2 more", p.Steps[0].Why); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p.Steps[0].Batch != "" {
		t.Errorf("a step that makes no call joins the batch %q", p.Steps[0].Batch)
	}
}

func TestLocks(t *testing.T) {
	rules := toyRules()
	rules.Lock = func(o stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
		whole := r.Key
		if r.In != (stack.Key{}) {
			whole = r.In
		}
		if there, ok := found(whole); ok {
			return []string{there.ID}
		}
		return []string{o.UID + " " + whole.String()}
	}
	for name, tc := range map[string]struct {
		have *stack.Stack
		want string
	}{
		"by the identifier of what is there": {observedStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "a"})), "id-of-lb"},
		"by its place until it is":           {observedStack(), "1 lb"},
	} {
		t.Run(name, func(t *testing.T) {
			want := desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "a", Tags: []string{"x"}}), ownedResource(newKey("listener", "80"), theLB, listener{Protocol: "TCP"}))
			p := diff.Compare(want, tc.have, rules, ledgerWith(nil))
			if len(p.Steps) < 2 {
				t.Fatalf("%d steps", len(p.Steps))
			}
			for _, s := range p.Steps {
				if d := cmp.Diff([]string{tc.want}, s.Locks); d != "" {
					t.Errorf("%s (-want +got):\n%s", s.ID, d)
				}
			}
		})
	}
}

// TestFixed: an immutable difference is reported and stays; all other changes continue,
// also in parts of the resource and in references to it, and other fields of it are
// written beside the observed value.
func TestFixed(t *testing.T) {
	rules := toyRules()
	kind := rules.Kinds["lb"]
	kind.Fixed = []string{"Scheme"}
	rules.Kinds["lb"] = kind
	have := observedStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "internal", Tags: []string{"a"}}))
	want := desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "public", Tags: []string{"b"}}), ownedResource(newKey("listener", "80"), theLB, listener{Protocol: "TCP"}))
	p := diff.Compare(want, have, rules, ledgerWith(nil))
	if d := cmp.Diff([]string{"update lb tags", "create listener/80", "held update lb fixed: fixed"}, planLines(p)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if spec, _ := p.Steps[0].Target.Spec.(lb); spec.Scheme != "internal" {
		t.Errorf("the update writes %q", spec.Scheme)
	}
	if why := p.Blocked[0].Why; why != "Scheme cannot be changed any more and stays; undo the change, or make another Service with what it asks for" {
		t.Errorf("why: %s", why)
	}
	want.Put(ownedResource(theLB, stack.Key{}, lb{Scheme: "internal", Tags: []string{"a"}}))
	if p := diff.Compare(want, have, rules, ledgerWith(nil)); len(p.Blocked) > 0 {
		t.Errorf("held: %v", p.Blocked)
	}
}

// TestLeaveLate: a resource that blocks a new one is deleted once everything else that the
// new one needs exists.
func TestLeaveLate(t *testing.T) {
	old := ownedResource(newKey("a", "old"), stack.Key{}, address{})
	old.Slot = "x"
	next := ownedResource(newKey("a", "new"), stack.Key{}, listener{To: newRef("p", "1")})
	next.Slot = "x"
	rules := func(r *diff.Rules) { r.Kinds["a"], r.Kinds["p"] = diff.Rule{}, diff.Rule{} }
	// The old one refers to m, which cannot change meanwhile; m needs the new p.
	leaving := ownedResource(newKey("a", "old"), stack.Key{}, listener{To: newRef("m", "1")})
	leaving.Slot = "x"
	coming := ownedResource(newKey("a", "new"), stack.Key{}, listener{To: newRef("m", "1")})
	coming.Slot = "x"
	busy := func(r *diff.Rules) {
		r.Kinds["a"], r.Kinds["m"], r.Kinds["p"] = diff.Rule{}, diff.Rule{}, diff.Rule{}
		r.Edges = []diff.Edge{
			{First: diff.Match{Action: plan.Delete, Kind: "a"}, Then: diff.Match{Action: plan.Update, Kind: "m"}},
			{First: diff.Match{Action: plan.Update, Kind: "m"}, Then: diff.Match{Action: plan.Create, Kind: "a"}},
			{First: diff.Match{Action: plan.Create, Kind: "p"}, Then: diff.Match{Action: plan.Update, Kind: "m"}},
		}
	}
	runCompare(t, map[string]compareCase{
		"behind what a step needs that waits for it": {
			want: desiredStack(ownedResource(newKey("m", "1"), stack.Key{}, listener{Protocol: "UDP"}), ownedResource(newKey("p", "1"), stack.Key{}, address{}), coming),
			have: observedStack(ownedResource(newKey("m", "1"), stack.Key{}, listener{Protocol: "TCP"}), leaving), rules: busy,
			plan: []string{
				"create p/1", "delete a/old <- create p/1", "update m/1 <- delete a/old, create p/1", "create a/new <- delete a/old, update m/1",
			},
		},
		"behind what the new one refers to": {want: desiredStack(ownedResource(newKey("p", "1"), stack.Key{}, address{}), next), have: observedStack(old), rules: rules,
			plan: []string{"create p/1", "delete a/old <- create p/1", "create a/new <- delete a/old, create p/1"}},
	})
}
