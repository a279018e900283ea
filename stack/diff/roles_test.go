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
		"lb":       {Role: diff.EntryPoint},
		"listener": {Role: diff.Port, Immutable: []string{"Protocol"}, Replace: diff.DeleteFirst},
		"group":    {Role: diff.Members, Immutable: []string{"Port"}},
		"targets":  {Role: diff.Members, FollowsBackends: true, Sets: map[string]diff.Set{"IDs": {}}, Within: diff.Within{Inherent: true}},
		"wall":     {Role: diff.Admits, Parts: map[string]string{"Note": "note"}},
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
	base := owned(theLB, stack.Key{}, lb{})
	port := func(name string) stack.Resource {
		return slot(owned(key("listener", name), theLB, listener{Protocol: "TCP"}), "port "+name)
	}
	admits := func(ports ...int) stack.Resource { return owned(key("wall", ""), stack.Key{}, wall{Ports: ports}) }
	from := func(ranges ...string) stack.Resource {
		return owned(key("wall", ""), stack.Key{}, wall{Ports: []int{80}, Ranges: ranges})
	}
	behind := func(name string, members ...string) []stack.Resource {
		return []stack.Resource{
			owned(key("group", name), stack.Key{}, group{}), owned(key("targets", name), key("group", name), targets{IDs: members}),
			owned(key("listener", name), theLB, listener{To: ref("group", name)}),
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
			want: wish(base, port("80"), admits(80)), have: found(base), rules: roleRules(),
			plan: []string{"create wall", "create listener/80 <- create wall"},
		},
		"and until it is deleted": {
			want: wish(), have: found(base, port("80"), admits(80)), rules: roleRules(),
			plan: []string{"delete listener/80", "delete lb <- delete listener/80", "delete wall <- delete lb, delete listener/80"},
		},
		"a port that moves is complete before the old one is deleted": {
			want: wish(base, port("81"), admits(81)), have: found(base, port("80"), admits(80)), rules: roleRules(sets),
			plan: []string{
				"update wall ports+", "create listener/81 <- update wall ports+",
				"delete listener/80 <- create listener/81, update wall ports+", "update wall ports- <- delete listener/80, update wall ports+",
			},
		},
		"what takes the place of another one follows it": {
			want: wish(base, slot(owned(key("listener", "80"), theLB, listener{Protocol: "UDP"}), "port 80"), admits(80)), have: found(base, port("80"), admits(80)), rules: roleRules(),
			plan: []string{"delete listener/80", "create listener/80 <- delete listener/80"},
		},
		"what may admit traffic to others waits for the port": {
			want: wish(base, port("81"), admits(80, 81)), have: found(base, admits(80)), rules: roleRules(last),
			plan: []string{"create listener/81", "update wall <- create listener/81"},
		},
		"it does so when it is created": {
			want: wish(base, port("81"), admits(81)), have: found(base), rules: roleRules(last),
			plan: []string{"create listener/81", "create wall <- create listener/81"},
		},
		"and waits for nothing when it is narrowed": {
			want: wish(base, port("81"), from("a")), have: found(base, from("a", "b")), rules: roleRules(last),
			plan: []string{"create listener/81", "update wall"},
		},
		"an empty list may admit all clients": {
			want: wish(base, port("81"), from()), have: found(base, from("a")), rules: roleRules(last),
			plan: []string{"create listener/81", "update wall <- create listener/81"},
		},
		"the evidence is created first and deleted last": {
			want: wish(base, port("81"), admits(81)), have: found(base, port("80")), rules: roleRules(proven),
			plan: []string{"create listener/81", "create wall <- create listener/81", "delete listener/80 <- create listener/81, create wall"},
		},
		"also where both are deleted": {
			want: wish(base), have: found(base, port("80"), admits(80)), rules: roleRules(proven),
			plan: []string{"delete wall", "delete listener/80 <- delete wall"},
		},
		"a new port has backends": {
			want: wish(append(behind("80", "a"), base)...), have: found(base), rules: roleRules(),
			plan: []string{"create group/80", "update targets/80 ids+ <- create group/80", "create listener/80 <- create group/80, update targets/80 ids+"},
		},
		"and waits for no backends of others": {
			want: wish(base, owned(key("targets", "80"), theLB, targets{IDs: []string{"a"}}), owned(key("targets", "81"), theLB, targets{IDs: []string{"a"}}),
				owned(key("listener", "81"), theLB, listener{To: ref("targets", "81")})),
			have: found(base), rules: roleRules(),
			plan: []string{"update targets/80 ids+", "update targets/81 ids+", "create listener/81 <- update targets/81 ids+"},
		},
		"a port whose backends move keeps what admits their traffic": {
			want: wish(append(behind("80", "a"), base, admits(1))...), have: found(append(behind("80", "b"), base, admits(2))...), rules: roleRules(sets),
			plan: []string{
				"update targets/80 ids+", "update targets/80 ids- <- update targets/80 ids+", "update wall ports+",
				"update wall ports- <- update targets/80 ids+, update targets/80 ids-, update wall ports+",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.plan, lines(diff.Compare(tc.want, tc.have, tc.rules, knowing(nil)))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSwitchNarrowsLast: a switch waits for its gate also where access is taken away after it.
func TestSwitchNarrowsLast(t *testing.T) {
	rules := roleRules(changeKind("wall", func(r *diff.Rule) { r.Sets = map[string]diff.Set{"Ports": {}} }))
	rules.Kinds["old-lb"] = diff.Rule{Role: diff.EntryPoint}
	old, base := owned(key("old-lb", ""), stack.Key{}, lb{}), owned(theLB, stack.Key{}, lb{})
	admits := func(ports ...int) stack.Resource { return owned(key("wall", ""), stack.Key{}, wall{Ports: ports}) }
	for name, tc := range map[string]struct {
		want, have []int
		plan       []string
	}{
		"narrowed": {[]int{1}, []int{1, 2}, []string{"create lb", "delete old-lb <- create lb @1m0s", "update wall ports- <- delete old-lb"}},
		"moved": {[]int{1}, []int{2}, []string{"create lb", "update wall ports+", "delete old-lb <- create lb, update wall ports+ @1m0s",
			"update wall ports- <- delete old-lb, update wall ports+"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := diff.Compare(wish(base, admits(tc.want...)), found(old, admits(tc.have...)), rules, knowing(nil))
			if d := cmp.Diff(tc.plan, lines(p)); d != "" {
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
			at := func(w wall) stack.Resource { return owned(key("wall", ""), stack.Key{}, w) }
			port := owned(key("listener", "1"), stack.Key{}, listener{})
			p := diff.Compare(wish(port, at(tc.to)), found(at(tc.from)), rules, knowing(nil))
			var waits bool
			for _, s := range p.Steps {
				waits = waits || s.ID.Action == plan.Update && len(s.AllNeeds()) > 0
			}
			if waits != tc.waits {
				t.Errorf("narrowing waits for the new port: %v, want %v: %v", waits, tc.waits, lines(p))
			}
		})
	}
}
