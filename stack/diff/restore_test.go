package diff_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// TestRestorable: what only the old form needs is deleted after the new one exists, where
// the old one can be restored.
func TestRestorable(t *testing.T) {
	rule := func(protocol, pool string) stack.Resource {
		return ownedResource(newKey("rule", ""), stack.Key{}, listener{Protocol: protocol, To: newRef("pool", pool)})
	}
	pool := func(name string) stack.Resource {
		return ownedResource(newKey("pool", name), stack.Key{}, check{Pool: newRef("check", name)})
	}
	checks := func(name string) stack.Resource { return ownedResource(newKey("check", name), stack.Key{}, address{}) }
	admits := func(ports ...int) stack.Resource {
		return ownedResource(newKey("wall", ""), stack.Key{}, wall{Ports: ports})
	}
	door := func(ports ...int) stack.Resource {
		return ownedResource(newKey("door", ""), stack.Key{}, wall{Ports: ports})
	}
	rules := diff.Rules{Kinds: map[stack.Kind]diff.Rule{
		"rule":  {Traffic: diff.Traffic{Role: diff.EntryPoint | diff.Port}, Fields: diff.Fields{Immutable: []string{"Protocol", "To"}}, Replace: diff.DeleteFirst, Restore: true},
		"inner": {Traffic: diff.Traffic{Role: diff.EntryPoint | diff.Port}, Replace: diff.DeleteFirst, Restore: true},
		"pool":  {}, "check": {}, "part": {Within: diff.Within{Cascade: true}}, "host": {Restore: true, Within: diff.Within{Cascade: true}},
		"wall": {Traffic: diff.Traffic{Role: diff.Admits}, Fields: diff.Fields{Sets: map[string]diff.Set{"Ports": {}}}},
		"door": {Traffic: diff.Traffic{Role: diff.Completes}},
	}}
	rules.Edges = []diff.Edge{{First: diff.Match{Action: plan.Create, Kind: "rule"}, Then: diff.Match{Kind: "door"}, Reason: "it admits clients to what exists"}, {First: diff.Match{Action: plan.Delete, Kind: "rule"}, Then: diff.Match{Action: plan.Create, Kind: "inner"}, Reason: "both have one name"}}
	for name, tc := range map[string]struct {
		want, have *stack.Stack
		plan       []string
		restore    bool
		undoes     bool
	}{
		"pools, checks and admission stay until the new one exists": {
			want: desiredStack(rule("UDP", "b"), pool("b"), checks("b"), admits(2)), have: observedStack(rule("TCP", "a"), pool("a"), checks("a"), admits(1)),
			plan: []string{
				"create check/b", "create pool/b <- create check/b", "update wall ports+",
				"delete rule <- create pool/b, update wall ports+", "create rule <- create pool/b, delete rule, update wall ports+",
				"delete pool/a <- create rule, delete rule", "delete check/a <- delete pool/a, create rule",
				"update wall ports- <- create rule, delete rule, update wall ports+",
			},
			restore: true,
		},
		"what completes the new one is waited for as well": {
			want: desiredStack(rule("UDP", "b"), pool("b"), checks("b"), door(2)), have: observedStack(rule("TCP", "a"), pool("a"), checks("a"), door(1)),
			plan: []string{
				"create check/b", "create pool/b <- create check/b", "delete rule <- create pool/b", "create rule <- create pool/b, delete rule",
				"update door <- create rule", "delete pool/a <- update door, create rule, delete rule", "delete check/a <- update door, delete pool/a, create rule",
			},
			restore: true, undoes: true,
		},
		"also under the key of another kind": {
			want: desiredStack(ownedResource(newKey("inner", ""), stack.Key{}, listener{To: newRef("pool", "b")}), pool("b"), checks("b")), have: observedStack(rule("TCP", "a"), pool("a"), checks("a")),
			plan: []string{
				"create check/b", "create pool/b <- create check/b", "delete rule <- create pool/b", "create inner <- create pool/b, delete rule",
				"delete pool/a <- create check/b, create inner, create pool/b, delete rule @1m0s",
				"delete check/a <- create check/b, create inner, delete pool/a, create pool/b @1m0s",
			},
			restore: true,
		},
		"parts are restored as well": {
			want: desiredStack(rule("UDP", "a"), pool("a"), checks("a"), ownedResource(newKey("host", ""), newKey("rule", ""), address{})),
			have: observedStack(rule("TCP", "a"), pool("a"), checks("a"), ownedResource(newKey("host", ""), newKey("rule", ""), address{})),
			plan: []string{"delete rule", "create rule <- delete rule", "create host <- create rule"}, restore: true,
		},
		"parts of a kind that cannot be restored": {
			want: desiredStack(rule("UDP", "a"), pool("a"), checks("a"), ownedResource(newKey("part", ""), newKey("rule", ""), address{})),
			have: observedStack(rule("TCP", "a"), pool("a"), checks("a"), ownedResource(newKey("part", ""), newKey("rule", ""), address{})),
			plan: []string{"delete rule", "create rule <- delete rule", "create part <- create rule"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := diff.Compare(tc.want, tc.have, rules, ledgerWith(nil))
			for _, s := range p.Steps {
				if undoes := s.ID.Key.Kind == "door" && tc.undoes; undoes != (len(s.Undoes) == 1) {
					t.Errorf("%s undoes %v", s.ID, s.Undoes)
				}
				if creates := s.ID.Key.Kind == "rule" || s.ID.Key.Kind == "inner"; creates && s.ID.Action == plan.Create && s.Pair.Restore != tc.restore {
					t.Errorf("restore: %v", s.Pair.Restore)
				}
			}
			if d := cmp.Diff(tc.plan, planLines(p)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSeveralReplaced: what completes a new entry point undoes the replacement of all old ones that
// were deleted for it, also where they were deleted for something in between. Where a new one
// is refused, the other new ones are undone.
func TestSeveralReplaced(t *testing.T) {
	entry := func(name string) stack.Resource {
		return ownedResource(newKey("entry", name), stack.Key{}, listener{Protocol: name, To: newRef("pool", "")})
	}
	pool := func(port int) stack.Resource {
		return ownedResource(newKey("pool", ""), stack.Key{}, wall{Ports: []int{port}})
	}
	door := func(port int) stack.Resource {
		return ownedResource(newKey("door", ""), stack.Key{}, wall{Ports: []int{port}})
	}
	create := func(name string) diff.Match { return diff.Match{Action: plan.Create, Kind: "entry", Name: name} }
	remove := func(name string) diff.Match { return diff.Match{Action: plan.Delete, Kind: "entry", Name: name} }
	rules := diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{"entry": {Traffic: diff.Traffic{Role: diff.EntryPoint}, Restore: true}, "pool": {}, "door": {Traffic: diff.Traffic{Role: diff.Completes}}},
		Edges: []diff.Edge{
			{First: remove("a"), Then: create(""), Reason: "they have one address"},
			{First: remove(""), Then: diff.Match{Action: plan.Update, Kind: "pool"}, Reason: "it changes while nothing refers to it"},
			{First: diff.Match{Action: plan.Update, Kind: "pool"}, Then: create(""), Reason: "it changes while nothing refers to it"},
			{First: create(""), Then: diff.Match{Kind: "door"}, Reason: "it admits clients to what exists"},
		},
	}
	for name, tc := range map[string]struct {
		have, want []string
		undone     map[string]int // replacements, by the step without which they are of no use
	}{
		"one for two": {[]string{"a", "b"}, []string{"x"}, map[string]int{"update door": 2}},
		"two for one": {[]string{"a"}, []string{"x", "y"}, map[string]int{"update door": 2, "create entry/x": 1, "create entry/y": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			have, want := observedStack(pool(1), door(1)), desiredStack(pool(2), door(2))
			for _, n := range tc.have {
				have.Put(observedStack(entry(n)).Resources[0])
			}
			for _, n := range tc.want {
				want.Put(entry(n))
			}
			undone := map[string]int{}
			for _, s := range diff.Compare(want, have, rules, ledgerWith(nil)).Steps {
				if len(s.Undoes) > 0 {
					undone[s.ID.String()] = len(s.Undoes)
				}
				if s.ID.Key.Kind == "entry" && !s.Pair.Restore {
					t.Errorf("%s is not restored", s.ID)
				}
			}
			if d := cmp.Diff(tc.undone, undone); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestReplacedBeneath: where what an entry point refers to is replaced under its name, both are
// restored, and the new one of both is undone where a later one is refused. Where something of that
// cannot be restored, nothing that uses it is: undoing the replacement would leave nothing.
func TestReplacedBeneath(t *testing.T) {
	for name, tc := range map[string]struct {
		lost     stack.Kind // cannot be restored
		restored map[string]bool
		undone   map[string]int // replacements, by the step without which they are of no use
	}{
		"all can be restored": {
			restored: map[string]bool{"create entry": true, "create pool": true, "create probe": true},
			undone:   map[string]int{"create pool": 1, "create entry": 2, "update door": 3},
		},
		"what it refers to cannot be restored": {
			lost: "pool", restored: map[string]bool{"create entry": false, "create pool": false, "create probe": true}, undone: map[string]int{},
		},
		"what that refers to cannot be restored": {
			lost: "probe", restored: map[string]bool{"create entry": false, "create pool": false, "create probe": false}, undone: map[string]int{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			replaced := func(kind stack.Kind, role diff.Role, field string) diff.Rule {
				return diff.Rule{Traffic: diff.Traffic{Role: role}, Fields: diff.Fields{Immutable: []string{field}}, Replace: diff.DeleteFirst, Restore: kind != tc.lost}
			}
			rules := diff.Rules{
				Kinds: map[stack.Kind]diff.Rule{
					"entry": replaced("entry", diff.EntryPoint, "Protocol"), "pool": replaced("pool", 0, "Path"), "probe": replaced("probe", 0, "Ports"),
					"door": {Traffic: diff.Traffic{Role: diff.Completes}},
				},
				Edges: []diff.Edge{{First: diff.Match{Action: plan.Create, Kind: "entry"}, Then: diff.Match{Kind: "door"}, Reason: "it admits clients to what exists"}},
			}
			of := func(n int) []stack.Resource {
				return []stack.Resource{
					ownedResource(newKey("entry", ""), stack.Key{}, listener{Protocol: fmt.Sprint(n), To: newRef("pool", "")}),
					ownedResource(newKey("pool", ""), stack.Key{}, check{Path: fmt.Sprint(n), Pool: newRef("probe", "")}),
					ownedResource(newKey("probe", ""), stack.Key{}, wall{Ports: []int{n}}), ownedResource(newKey("door", ""), stack.Key{}, wall{Ports: []int{n}}),
				}
			}
			restored, undone := map[string]bool{}, map[string]int{}
			for _, s := range diff.Compare(desiredStack(of(2)...), observedStack(of(1)...), rules, ledgerWith(nil)).Steps {
				if len(s.Undoes) > 0 {
					undone[s.ID.String()] = len(s.Undoes)
				}
				if s.ID.Action == plan.Create {
					restored[s.ID.String()] = s.Pair.Restore
				}
			}
			if d := cmp.Diff(tc.restored, restored); d != "" {
				t.Errorf("restored (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.undone, undone); d != "" {
				t.Errorf("undone replacements (-want +got):\n%s", d)
			}
		})
	}
}

// TestSeveralBeneath: where several new entry points use what replaces something that an old one uses,
// none is left when one of them is refused, and what completes them cuts the old one off last.
func TestSeveralBeneath(t *testing.T) {
	entry := func(name string) stack.Resource {
		return ownedResource(newKey("entry", name), stack.Key{}, listener{Protocol: name, To: newRef("pool", "")})
	}
	part := func(kind, name string, n int) stack.Resource {
		return ownedResource(newKey(kind, name), stack.Key{}, wall{Ports: []int{n}})
	}
	create := func(name string) diff.Match { return diff.Match{Action: plan.Create, Kind: "entry", Name: name} }
	rules := diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{
			"entry": {Traffic: diff.Traffic{Role: diff.EntryPoint}, Restore: true}, "pool": {Fields: diff.Fields{Immutable: []string{"Ports"}}, Replace: diff.DeleteFirst, Restore: true}, "door": {Traffic: diff.Traffic{Role: diff.Completes}},
		},
		Edges: []diff.Edge{
			{First: diff.Match{Action: plan.Delete, Kind: "entry", Name: "a"}, Then: create("x"), Reason: "they have one address"},
			{First: create("x"), Then: diff.Match{Kind: "door", Name: "x"}, Reason: "it admits clients to what exists"},
			{First: create("y"), Then: diff.Match{Kind: "door", Name: "y"}, Reason: "it admits clients to what exists"},
		},
	}
	have := observedStack(entry("a"), part("pool", "", 1), part("door", "x", 1))
	want := desiredStack(entry("x"), entry("y"), part("pool", "", 2), part("door", "x", 2), part("door", "y", 2))
	undone, needs := map[string]int{}, map[string][]string{}
	for _, s := range diff.Compare(want, have, rules, ledgerWith(nil)).Steps {
		if len(s.Undoes) > 0 {
			undone[s.ID.String()] = len(s.Undoes)
		}
		for _, id := range s.Needs {
			needs[s.ID.String()] = append(needs[s.ID.String()], id.String())
		}
	}
	if d := cmp.Diff(map[string]int{"create entry/x": 2, "create entry/y": 2, "create door/y": 3, "update door/x": 3}, undone); d != "" {
		t.Errorf("undone replacements (-want +got):\n%s", d)
	}
	for _, first := range []string{"create door/y", "create entry/y"} {
		if !slices.Contains(needs["update door/x"], first) {
			t.Errorf("the old door is cut off before %s: %v", first, needs["update door/x"])
		}
	}
}
