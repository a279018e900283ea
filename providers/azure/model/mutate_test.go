package model

import (
	"maps"
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms for load balancers
// of nodes, a law is broken. Pools of pods have no flows.
func TestLawsSeeEveryMechanism(t *testing.T) {
	kinds := balancerRules()
	maps.Copy(kinds, otherRules())
	rules := diff.Rules{Kinds: kinds, Edges: edges()}
	fresh := func() *laws.Subject {
		s, other := internalLaws(t), publicLaws(t)
		s.Name = "mutated"
		for _, c := range other.Cases {
			if !slices.ContainsFunc(s.Cases, func(d laws.Case) bool { return d.Name == c.Name }) {
				s.Cases = append(s.Cases, c)
			}
		}
		s.Known, s.Neighbours = append(s.Known, other.Known...), append(s.Neighbours, other.Neighbours...)
		return s
	}
	laws.Mutate(t, fresh, laws.Bounds{Moves: 40, Pairs: 1}, laws.MutationsOf(rules, map[string]string{}))
}
