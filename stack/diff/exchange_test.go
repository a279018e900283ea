package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// exchangeRules are those of ports whose clients rules admit to backends: "old" and "new" rules
// shut out and let in what one of both ports must not have.
func exchangeRules() diff.Rules {
	named := func(a plan.Action, name string) diff.Match {
		return diff.Match{Action: a, Kind: "rule", Where: func(r stack.Resource) bool { return r.Key.Name == name }}
	}
	kinds := map[stack.Kind]diff.Rule{
		"rule": {Restore: true}, "port": {Traffic: diff.Traffic{Role: diff.Port}, Restore: true}, "pool": {Traffic: diff.Traffic{Role: diff.Members}}, "part": {Within: diff.Within{Inherent: true}},
	}
	return diff.Rules{Kinds: kinds, Edges: diff.Exchange("port", named(plan.Delete, "old"), named(plan.Create, "new"))}
}

// TestExchange: an old port is closed before the new one is opened, after everything else that
// may be refused, and all of that is undone as one.
func TestExchange(t *testing.T) {
	port := func(name string) stack.Resource {
		return ownedResource(newKey("port", name), stack.Key{}, check{Pool: newRef("pool", name)})
	}
	pool := func(name string) stack.Resource {
		return ownedResource(newKey("pool", name), stack.Key{}, pool{Method: name})
	}
	rule := func(name string) stack.Resource {
		return ownedResource(newKey("rule", name), stack.Key{}, address{Name: name})
	}
	part := ownedResource(newKey("part", "a"), newKey("port", "a"), attrs{Idle: 1})
	for name, tc := range map[string]struct {
		want, have *stack.Stack
		plan       []string
		undoes     map[string][]string // by step: what its refusal undoes
		interrupts bool                // the rule of the old port is marked
	}{
		"port and clients": {
			want: desiredStack(port("b"), pool("b"), rule("new")), have: observedStack(port("a"), pool("a"), rule("old")),
			plan: []string{
				"create pool/b", "delete rule/old <- create pool/b", "create port/b <- create pool/b, delete rule/old", "delete port/a <- create pool/b, create port/b",
				"create rule/new <- delete port/a", "delete pool/a <- delete port/a, create port/b, create rule/new",
			},
			undoes: map[string][]string{
				"create port/b": {"delete port/a"}, "delete port/a": {"delete rule/old"}, "create rule/new": {"delete rule/old"}, "delete rule/old": {"delete port/a"},
			},
			interrupts: true,
		},
		"more clients": { // the new port serves those of the old one until the rule exists
			want: desiredStack(port("b"), pool("b"), rule("new")), have: observedStack(port("a"), pool("a")),
			plan: []string{
				"create pool/b", "create port/b <- create pool/b", "delete port/a <- create pool/b, create port/b", "delete pool/a <- delete port/a", "create rule/new <- delete port/a",
			},
		},
		"fewer clients": {
			want: desiredStack(port("b"), pool("b")), have: observedStack(port("a"), pool("a"), rule("old")),
			plan: []string{
				"create pool/b", "delete rule/old <- create pool/b", "create port/b <- create pool/b, delete rule/old", "delete port/a <- create pool/b, create port/b", "delete pool/a <- delete port/a",
			},
			interrupts: true,
		},
		"an old port that cannot be restored": {
			want: desiredStack(port("b"), pool("b"), rule("new")), have: observedStack(port("a"), part, pool("a"), rule("old")),
			plan: []string{
				"create pool/b", "delete rule/old <- create pool/b", "create port/b <- create pool/b, delete rule/old", "delete port/a <- create pool/b, create port/b",
				"delete pool/a <- delete port/a, create port/b", "create rule/new <- delete port/a",
			},
			undoes: map[string][]string{"delete port/a": {"delete rule/old"}}, interrupts: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := diff.Compare(tc.want, tc.have, exchangeRules(), ledgerWith(nil))
			if d := cmp.Diff(tc.plan, planLines(got)); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			undoes := map[string][]string{}
			for _, s := range got.Steps {
				for _, p := range s.Undoes {
					undoes[s.ID.String()] = append(undoes[s.ID.String()], p.Delete.String())
				}
				if s.ID.String() == "delete rule/old" && (s.Impact == plan.Interrupts) != tc.interrupts {
					t.Errorf("the old rule is marked as %q", s.Impact)
				}
			}
			if d := cmp.Diff(tc.undoes, undoes, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("undoes (-want +got):\n%s", d)
			}
		})
	}
}
