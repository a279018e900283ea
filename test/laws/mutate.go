package laws

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack/diff"
)

// Mutation is the edges of one reason, or one mechanism, taken out of the rules.
type Mutation struct {
	Name  string
	Apply func(*Subject)
	// Idle says why the laws hold without it; empty: they do not.
	Idle string
	// Only lists the moves in which a law is broken without it, as in [Bounds]; empty: any.
	Only []string
}

// MutationsOf returns a mutation for the edges of each reason, for each role of a kind, and
// for each mechanism that a kind uses. The reasons of the ones without which the laws hold
// are looked up by name.
func MutationsOf(rules diff.Rules, idle map[string]string) []Mutation {
	var out []Mutation
	add := func(apply func(*diff.Rules), format string, args ...any) {
		name := fmt.Sprintf(format, args...)
		out = append(out, Mutation{Name: name, Idle: idle[name], Apply: func(s *Subject) { apply(&s.Rules) }})
	}
	seen := map[string]bool{}
	for _, e := range rules.Edges {
		if !seen[e.Reason] {
			seen[e.Reason] = true
			add(func(r *diff.Rules) {
				r.Edges = slices.DeleteFunc(slices.Clone(r.Edges), func(o diff.Edge) bool { return o.Reason == e.Reason })
			}, "edges: %s", e.Reason)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(rules.Kinds)) {
		change := func(f func(*diff.Rule)) func(*diff.Rules) {
			return func(r *diff.Rules) {
				rule := r.Kinds[kind]
				f(&rule)
				r.Kinds = maps.Clone(r.Kinds)
				r.Kinds[kind] = rule
			}
		}
		rule := rules.Kinds[kind]
		for role, name := range map[diff.Role]string{diff.EntryPoint: "entry point", diff.Port: "port", diff.Members: "members", diff.Admits: "admits"} {
			if rule.Role.Is(role) {
				add(change(func(r *diff.Rule) { r.Role &^= role }), "role: %s is no %s", kind, name)
			}
		}
		if rule.Replace == diff.DeleteFirst {
			add(change(func(r *diff.Rule) { r.Replace = diff.CreateFirst }), "order: %s is created before it is deleted", kind)
		}
		if len(rule.ProvenBy) > 0 {
			add(change(func(r *diff.Rule) { r.ProvenBy = nil }), "evidence: %s is proven by nothing", kind)
		}
		if rule.WidenLast != nil {
			add(change(func(r *diff.Rule) { r.WidenLast = nil }), "order: %s is widened first", kind)
		}
		if rule.Restore {
			add(change(func(r *diff.Rule) { r.Restore = false }), "restore: %s is not restored", kind)
		}
		if rule.Linger != nil {
			add(change(func(r *diff.Rule) { r.Linger = nil }), "linger: %s is deleted at once", kind)
		}
		for name := range rule.Impact {
			add(change(func(r *diff.Rule) { r.Impact = maps.Clone(r.Impact); delete(r.Impact, name) }), "impact: %s does not mark %s", kind, name)
		}
	}
	return out
}

// Mutate fails for each mutation that breaks no law, unless it says why, and for one that
// says why and breaks a law. Without a mutation no law must be broken.
func Mutate(t *testing.T, fresh func() *Subject, b Bounds, mutations []Mutation) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as in Check
	mutations = append([]Mutation{{Name: "nothing", Apply: func(*Subject) {}, Idle: "it is the rules as they are"}}, mutations...)
	for _, m := range mutations {
		s := fresh()
		m.Apply(s)
		bounds := b
		if len(m.Only) > 0 {
			bounds = Bounds{Only: m.Only, Pairs: b.Pairs}
		}
		w := newSweep(s, bounds)
		w.mutation = true
		w.all()
		if len(w.coverage.Violations) > 0 {
			v := w.coverage.Violations[0]
			t.Logf("without %s: %s after %d runs, %s", m.Name, v.Law, w.coverage.Runs, s.describe(Scenario{Moves: v.Scenario.Moves}))
		}
		switch broken := len(w.coverage.Violations) > 0; {
		case !broken && m.Idle == "":
			t.Errorf("%s: no law is broken without it: %s", s.Name, m.Name)
		case broken && m.Idle != "":
			t.Errorf("%s: a law is broken without %s, which is said to be idle (%s):\n%s", s.Name, m.Name, m.Idle, s.Report(w.coverage.Violations[0]))
		}
	}
}
