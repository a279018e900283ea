package diff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// toyRoles are the toy rules with roles instead of edges.
func toyRoles() diff.Rules {
	rules := toyRules()
	rules.Edges = nil
	for kind, role := range map[stack.Kind]diff.Role{"listener": diff.Port, "group": diff.Members, "targets": diff.Members, "rule": diff.Admits} {
		rule := rules.Kinds[kind]
		rule.Role, rule.FollowsBackends = role, kind == "targets"
		if kind == "rule" {
			rule.ProvenBy = []stack.Kind{"lb"}
		}
		rules.Kinds[kind] = rule
	}
	return rules
}

// wall admits clients by port and by range.
type wall struct {
	Ports  []int
	Ranges []string
	Note   string
}

// roleRules are a load balancer with listeners, members and a firewall.
func roleRules(change ...func(map[stack.Kind]diff.Rule)) diff.Rules {
	kinds := map[stack.Kind]diff.Rule{
		"lb":       {Traffic: diff.Traffic{Role: diff.EntryPoint}},
		"listener": {Traffic: diff.Traffic{Role: diff.Port}, Fields: diff.Fields{Immutable: []string{"Protocol"}}, Replace: diff.DeleteFirst},
		"group":    {Traffic: diff.Traffic{Role: diff.Members}, Fields: diff.Fields{Immutable: []string{"Port"}}},
		"targets":  {Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true}, Fields: diff.Fields{Sets: map[string]diff.Set{"IDs": {}}}, Within: diff.Within{Inherent: true}},
		"wall":     {Traffic: diff.Traffic{Role: diff.Admits}, Fields: diff.Fields{Parts: map[string]string{"Note": "note"}}},
	}
	for _, c := range change {
		c(kinds)
	}
	return diff.Rules{Kinds: kinds}
}

func changeKind(kind stack.Kind, change func(*diff.Rule)) func(map[stack.Kind]diff.Rule) {
	return func(kinds map[stack.Kind]diff.Rule) {
		rule := kinds[kind]
		change(&rule)
		kinds[kind] = rule
	}
}

// TestRoles: orders follow from what kinds do for traffic.
func TestRoles(t *testing.T) {
	base := ownedResource(theLB, stack.Key{}, lb{})
	port := func(name string) stack.Resource {
		return withSlot(ownedResource(newKey("listener", name), theLB, listener{Protocol: "TCP"}), "port "+name)
	}
	admits := func(ports ...int) stack.Resource {
		return ownedResource(newKey("wall", ""), stack.Key{}, wall{Ports: ports})
	}
	from := func(ranges ...string) stack.Resource {
		return ownedResource(newKey("wall", ""), stack.Key{}, wall{Ports: []int{80}, Ranges: ranges})
	}
	behind := func(name string, members ...string) []stack.Resource {
		return []stack.Resource{
			ownedResource(newKey("group", name), stack.Key{}, group{}), ownedResource(newKey("targets", name), newKey("group", name), targets{IDs: members}),
			ownedResource(newKey("listener", name), theLB, listener{To: newRef("group", name)}),
		}
	}
	last := changeKind("wall", func(r *diff.Rule) { r.WidenLast = func(stack.Resource) bool { return true } })
	proven := changeKind("wall", func(r *diff.Rule) { r.ProvenBy = []stack.Kind{"listener"} })
	sets := changeKind("wall", func(r *diff.Rule) { r.Sets = map[string]diff.Set{"Ports": {}} })
	for name, tc := range map[string]struct {
		want, have *stack.Stack
		rules      diff.Rules
		plan       []string
	}{
		"clients are admitted before a port is created": {
			want: desiredStack(base, port("80"), admits(80)), have: observedStack(base), rules: roleRules(),
			plan: []string{"create wall", "create listener/80 <- create wall"},
		},
		"and until it is deleted": {
			want: desiredStack(), have: observedStack(base, port("80"), admits(80)), rules: roleRules(),
			plan: []string{"delete listener/80", "delete lb <- delete listener/80", "delete wall <- delete lb, delete listener/80"},
		},
		"a port that moves is complete before the old one is deleted": {
			want: desiredStack(base, port("81"), admits(81)), have: observedStack(base, port("80"), admits(80)), rules: roleRules(sets),
			plan: []string{
				"update wall ports+", "create listener/81 <- update wall ports+",
				"delete listener/80 <- create listener/81, update wall ports+", "update wall ports- <- delete listener/80, update wall ports+",
			},
		},
		"what takes the place of another one follows it": {
			want: desiredStack(base, withSlot(ownedResource(newKey("listener", "80"), theLB, listener{Protocol: "UDP"}), "port 80"), admits(80)), have: observedStack(base, port("80"), admits(80)), rules: roleRules(),
			plan: []string{"delete listener/80", "create listener/80 <- delete listener/80"},
		},
		"what may admit traffic to others waits for the port": {
			want: desiredStack(base, port("81"), admits(80, 81)), have: observedStack(base, admits(80)), rules: roleRules(last),
			plan: []string{"create listener/81", "update wall <- create listener/81"},
		},
		"it does so when it is created": {
			want: desiredStack(base, port("81"), admits(81)), have: observedStack(base), rules: roleRules(last),
			plan: []string{"create listener/81", "create wall <- create listener/81"},
		},
		"and waits for nothing when it is narrowed": {
			want: desiredStack(base, port("81"), from("a")), have: observedStack(base, from("a", "b")), rules: roleRules(last),
			plan: []string{"create listener/81", "update wall"},
		},
		"an empty list may admit all clients": {
			want: desiredStack(base, port("81"), from()), have: observedStack(base, from("a")), rules: roleRules(last),
			plan: []string{"create listener/81", "update wall <- create listener/81"},
		},
		"the evidence is created first and deleted last": {
			want: desiredStack(base, port("81"), admits(81)), have: observedStack(base, port("80")), rules: roleRules(proven),
			plan: []string{"create listener/81", "create wall <- create listener/81", "delete listener/80 <- create listener/81, create wall"},
		},
		"also where both are deleted": {
			want: desiredStack(base), have: observedStack(base, port("80"), admits(80)), rules: roleRules(proven),
			plan: []string{"delete wall", "delete listener/80 <- delete wall"},
		},
		"a new port has backends": {
			want: desiredStack(append(behind("80", "a"), base)...), have: observedStack(base), rules: roleRules(),
			plan: []string{"create group/80", "update targets/80 ids+ <- create group/80", "create listener/80 <- create group/80, update targets/80 ids+"},
		},
		"and waits for no backends of others": {
			want: desiredStack(base, ownedResource(newKey("targets", "80"), theLB, targets{IDs: []string{"a"}}), ownedResource(newKey("targets", "81"), theLB, targets{IDs: []string{"a"}}),
				ownedResource(newKey("listener", "81"), theLB, listener{To: newRef("targets", "81")})),
			have: observedStack(base), rules: roleRules(),
			plan: []string{"update targets/80 ids+", "update targets/81 ids+", "create listener/81 <- update targets/81 ids+"},
		},
		"a port whose backends move keeps what admits their traffic": {
			want: desiredStack(append(behind("80", "a"), base, admits(1))...), have: observedStack(append(behind("80", "b"), base, admits(2))...), rules: roleRules(sets),
			plan: []string{
				"update targets/80 ids+", "update targets/80 ids- <- update targets/80 ids+", "update wall ports+",
				"update wall ports- <- update targets/80 ids+, update targets/80 ids-, update wall ports+",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.plan, planLines(diff.Compare(tc.want, tc.have, tc.rules, ledgerWith(nil)))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSwitchNarrowsLast: a switch waits for its gate also where access is taken away after it.
func TestSwitchNarrowsLast(t *testing.T) {
	rules := roleRules(changeKind("wall", func(r *diff.Rule) { r.Sets = map[string]diff.Set{"Ports": {}} }))
	rules.Kinds["old-lb"] = diff.Rule{Traffic: diff.Traffic{Role: diff.EntryPoint}}
	old, base := ownedResource(newKey("old-lb", ""), stack.Key{}, lb{}), ownedResource(theLB, stack.Key{}, lb{})
	admits := func(ports ...int) stack.Resource {
		return ownedResource(newKey("wall", ""), stack.Key{}, wall{Ports: ports})
	}
	for name, tc := range map[string]struct {
		want, have []int
		plan       []string
	}{
		"narrowed": {[]int{1}, []int{1, 2}, []string{"create lb", "delete old-lb <- create lb @1m0s", "update wall ports- <- delete old-lb"}},
		"moved": {[]int{1}, []int{2}, []string{"create lb", "update wall ports+", "delete old-lb <- create lb, update wall ports+ @1m0s",
			"update wall ports- <- delete old-lb, update wall ports+"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := diff.Compare(desiredStack(base, admits(tc.want...)), observedStack(old, admits(tc.have...)), rules, ledgerWith(nil))
			if d := cmp.Diff(tc.plan, planLines(p)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestOrdersHaveReasons: every order that follows from a role names both kinds.
func TestOrdersHaveReasons(t *testing.T) {
	orders := roleRules(changeKind("wall", func(r *diff.Rule) { r.ProvenBy = []stack.Kind{"listener"} })).Orders()
	if len(orders) < 10 {
		t.Fatalf("only %d orders", len(orders))
	}
	for _, o := range orders {
		for _, kind := range []stack.Kind{o.First.Kind, o.Then.Kind} {
			if kind == "" || !strings.Contains(o.Reason, string(kind)) {
				t.Errorf("%+v names %q, want it to name %q", o, o.Reason, kind)
			}
		}
	}
}

// TestEffects: what widens and what narrows.
func TestEffects(t *testing.T) {
	rules := roleRules(changeKind("wall", func(r *diff.Rule) { r.ProvenBy = []stack.Kind{"listener"} }))
	for name, tc := range map[string]struct {
		from, to wall
		waits    bool
	}{
		"added":      {wall{Ports: []int{1}}, wall{Ports: []int{1, 2}}, false},
		"removed":    {wall{Ports: []int{1, 2}}, wall{Ports: []int{1}}, true},
		"exchanged":  {wall{Ports: []int{1}}, wall{Ports: []int{2}}, true},
		"no list":    {wall{Note: "a"}, wall{Note: "b"}, true},
		"restricted": {wall{}, wall{Ranges: []string{"a"}}, true},
		"opened":     {wall{Ranges: []string{"a"}}, wall{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			at := func(w wall) stack.Resource { return ownedResource(newKey("wall", ""), stack.Key{}, w) }
			port := ownedResource(newKey("listener", "1"), stack.Key{}, listener{})
			p := diff.Compare(desiredStack(port, at(tc.to)), observedStack(at(tc.from)), rules, ledgerWith(nil))
			var waits bool
			for _, s := range p.Steps {
				waits = waits || s.ID.Action == plan.Update && len(s.AllNeeds()) > 0
			}
			if waits != tc.waits {
				t.Errorf("narrowing waits for the new port: %v, want %v: %v", waits, tc.waits, planLines(p))
			}
		})
	}
}
