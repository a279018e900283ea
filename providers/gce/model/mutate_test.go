package model

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/test/laws"
)

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken.
func TestLawsSeeEveryMechanism(t *testing.T) {
	fresh := func() *laws.Subject {
		s, other := olderLaws(t), newerLaws(t)
		s.Name = "mutated"
		for _, c := range other.Cases {
			if !slices.ContainsFunc(s.Cases, func(d laws.Case) bool { return d.Name == c.Name }) {
				s.Cases = append(s.Cases, c)
			}
		}
		s.Known, s.Neighbours = append(s.Known, other.Known...), append(s.Neighbours, other.Neighbours...)
		return s
	}
	laws.Mutate(t, fresh, laws.Bounds{Moves: 30, Pairs: 1}, laws.MutationsOf(Rules(), map[string]string{}))
}
