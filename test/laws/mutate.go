package laws

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack/diff"
)

// Mutation is one edge or mechanism that is taken out of the rules.
type Mutation struct {
	Name  string
	Apply func(*diff.Rules)
	// Idle says why the laws hold without it; empty: they do not.
	Idle string
}

// EdgesOf returns a mutation for each edge of the rules, which removes it. The reasons of
// those without which the laws hold are looked up by the name of the mutation.
func EdgesOf(rules diff.Rules, idle map[string]string) []Mutation {
	var out []Mutation
	for i, e := range rules.Edges {
		name := fmt.Sprintf("edge %s %s %s before %s %s", e.First.Action, e.First.Kind, e.First.Part, e.Then.Action, e.Then.Kind)
		out = append(out, Mutation{Name: name, Idle: idle[name], Apply: func(r *diff.Rules) {
			r.Edges = slices.Delete(slices.Clone(r.Edges), i, i+1)
		}})
	}
	return out
}

// Mutate fails for each mutation that breaks no law, unless it says why, and for one that
// says why and breaks a law.
func Mutate(t *testing.T, fresh func() *Subject, b Bounds, mutations []Mutation) {
	t.Helper()
	for _, m := range mutations {
		s := fresh()
		m.Apply(&s.Rules)
		w := newSweep(s, b)
		w.mutation = true
		w.all()
		switch broken := len(w.coverage.Violations) > 0; {
		case !broken && m.Idle == "":
			t.Errorf("%s: no law is broken without it: %s", s.Name, m.Name)
		case broken && m.Idle != "":
			t.Errorf("%s: a law is broken without %s, which is said to be idle (%s):\n%s", s.Name, m.Name, m.Idle, s.Report(w.coverage.Violations[0]))
		}
	}
}
