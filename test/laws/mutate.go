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
	rules bool // only the rules are changed
	none  bool // nothing is changed
	// touches reports whether plans of this kind may become others; nil: all may.
	touches func(planning) bool
}

// MutationSet is what becomes of mutations of one subject.
type MutationSet struct {
	Fresh  func() *Subject
	Bounds Bounds
	// Seen lists by name the mutations that break a law, with the beginning of a description
	// of the moves that show it, such as "web: plain -> udp". Empty: any within the bounds.
	Seen map[string]string
	// Idle lists by name the ones that break no law, and says why.
	Idle map[string]string
	// plans are those of the rules as they are.
	plans *plannings
}

// MutationsOf returns a mutation for the edges of each reason, for each role of a kind, and
// for each mechanism that a kind uses.
func MutationsOf(rules diff.Rules) []Mutation {
	var out []Mutation
	touches := func(planning) bool { return true }
	add := func(apply func(*diff.Rules), format string, args ...any) {
		out = append(out, Mutation{Name: fmt.Sprintf(format, args...), Apply: func(s *Subject) { apply(&s.Rules) }, rules: true, touches: touches})
	}
	seen := map[string]bool{}
	for _, e := range rules.Edges {
		if !seen[e.Reason] {
			seen[e.Reason] = true
			touches = func(p planning) bool {
				return slices.ContainsFunc(rules.Edges, func(o diff.Edge) bool { return o.Reason == e.Reason && p.mayOrder(o) })
			}
			add(func(r *diff.Rules) {
				r.Edges = slices.DeleteFunc(slices.Clone(r.Edges), func(o diff.Edge) bool { return o.Reason == e.Reason })
			}, "edges: %s", e.Reason)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(rules.Kinds)) {
		touches = func(p planning) bool { return p.concerns[kind] }
		change := func(f func(*diff.Rule)) func(*diff.Rules) {
			return func(r *diff.Rules) {
				rule := r.Kinds[kind]
				f(&rule)
				r.Kinds = maps.Clone(r.Kinds)
				r.Kinds[kind] = rule
			}
		}
		rule := rules.Kinds[kind]
		for role, name := range map[diff.Role]string{diff.EntryPoint: "entry point", diff.Port: "port", diff.Members: "members", diff.Admits: "admits", diff.Completes: "completes"} {
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

// Mutate fails for each mutation of rules, or of the further ones, that no set lists, for one
// that breaks no law although it is listed as seen, and for one that breaks a law although it
// is listed as idle. Without a mutation no law must be broken, in the moves that show one as well. BERTH_LAWS in the environment is
// as for [Check]: with more moves, more of what is listed as idle may break a law.
func Mutate(t *testing.T, rules diff.Rules, more []Mutation, sets ...MutationSet) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // runs leave much garbage, and recorded plans keep states
	all := append(MutationsOf(rules), more...)
	if slices.ContainsFunc(sets, func(s MutationSet) bool { return s.follows() }) {
		all = append(all, Mutation{Name: "mechanism: backends do not follow a refused step", Apply: followNothing, rules: true})
	}
	seen, idle := 0, 0
	for i := range sets {
		set := &sets[i]
		set.Bounds = set.Bounds.asAsked()
		set.plans = &plannings{}
		nothing := Mutation{Name: "nothing", Apply: func(*Subject) {}, none: true}
		set.run(t, nothing, nil, "it is the rules as they are")
		if shown := set.shown(); len(shown) > 0 {
			set.run(t, nothing, shown, "it is the rules as they are")
		}
		seen, idle = seen+len(set.Seen), idle+len(set.Idle)
	}
	for _, m := range all {
		listed := false
		for _, set := range sets {
			move, shows := set.Seen[m.Name]
			reason, hides := set.Idle[m.Name]
			if shows || hides {
				listed = true
				set.run(t, m, slices.DeleteFunc([]string{move}, func(s string) bool { return s == "" }), reason)
			}
		}
		if !listed {
			t.Errorf("no set lists the mutation %q: %s", m.Name, findBroken(m, sets))
		}
	}
	if seen+idle != len(all) {
		t.Errorf("%d mutations are listed, and %d exist", seen+idle, len(all))
	}
	t.Logf("%d of %d mutations break a law, %d are idle", seen, len(all), idle)
}

// shown lists the beginnings of the moves that show mutations.
func (set MutationSet) shown() []string {
	out := slices.Sorted(maps.Values(set.Seen))
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// follows reports whether the cases of a set write the backends of today in place of a step that
// is not performed.
func (set MutationSet) follows() bool {
	return slices.ContainsFunc(set.Fresh().Cases, func(c Case) bool { return c.Today != nil })
}

// followNothing leaves backends as they are where a step is not performed.
func followNothing(s *Subject) {
	for i := range s.Cases {
		s.Cases[i].Today = nil
	}
}

// findBroken returns where a mutation breaks a law, in the first set that shows it.
func findBroken(m Mutation, sets []MutationSet) string {
	for _, set := range sets {
		w := set.sweep(m, nil)
		if len(w.coverage.Violations) > 0 {
			v := w.coverage.Violations[0]
			return fmt.Sprintf("%s: %s after %d runs, %s", w.subject.Name, v.Law, w.coverage.Runs, w.subject.describe(Scenario{Moves: v.Scenario.Moves}))
		}
	}
	return "it breaks no law within the bounds"
}

// sweep performs the runs of a mutation until a law is broken, in some moves or, without any,
// in those within the bounds.
func (set MutationSet) sweep(m Mutation, moves []string) *sweep {
	s, bounds := set.Fresh(), set.Bounds
	m.Apply(s)
	if len(moves) > 0 {
		bounds = Bounds{Only: moves, Pairs: bounds.Pairs}
	}
	w := newSweep(s, bounds)
	w.mutation = true
	switch {
	case m.none:
		set.plans.record(s)
		w.plans = set.plans
	case m.rules && !set.plans.differ("", s, m.touches):
		w.skips = func(moves string) bool { return !set.plans.differ(moves, s, m.touches) }
	}
	w.all()
	return w
}

// run performs the runs of a mutation, and compares the result with what the set lists.
func (set MutationSet) run(t *testing.T, m Mutation, moves []string, idle string) {
	t.Helper()
	w := set.sweep(m, moves)
	s := w.subject
	broken := len(w.coverage.Violations) > 0
	switch {
	case !broken && idle == "":
		t.Errorf("%s: no law is broken without it: %s", s.Name, m.Name)
	case broken && idle != "":
		t.Errorf("%s: a law is broken without %s, which is said to be idle (%s):\n%s", s.Name, m.Name, idle, s.Report(w.coverage.Violations[0]))
	case broken:
		v := w.coverage.Violations[0]
		t.Logf("without %s: %s after %d runs, %s", m.Name, v.Law, w.coverage.Runs, s.describe(Scenario{Moves: v.Scenario.Moves}))
	}
}
