package model

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// KeepServing returns the existing stack with today's nodes as members.
func KeepServing(in Input, _ *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	balancer, _ := stack.SpecOf[Balancer](have, balancerKey())
	for _, r := range have.Resources {
		if r.Proof == stack.None {
			continue
		}
		if spec, ok := r.Spec.(Pool); ok && len(spec.Members) > 0 && spec.Managed == "" {
			spec.Members = followNodes(in, cmp.Or(balancer.Kind, ALB), spec.Members)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// followNodes returns today's nodes at the port of the found members, which are nodes: the
// controllers of this cloud create no others. A choice that is refused or matches no node adds
// none, and only takes away the members that are no nodes any more.
func followNodes(in Input, kind string, found []Member) []Member {
	var existing []string
	for _, m := range found {
		existing = append(existing, m.target())
	}
	chosen := chooseNodes(in, kind, existing)
	if len(chosen) == 0 || in.Values.Refused(nodeSelectorKey) {
		chosen = keepNodes(in, kind, existing)
	}
	nodes := membersOf(kind, chosen, found[0].Port)
	slices.SortStableFunc(nodes, func(a, b Member) int {
		return rankOf(!slices.Contains(existing, a.target())) - rankOf(!slices.Contains(existing, b.target()))
	})
	nodes = nodes[:min(len(nodes), mostMembers)]
	slices.SortFunc(nodes, compareMembers)
	return providers.Follow(found, nodes, func(Member) bool { return true })
}

func rankOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// MatchFound returns the found stack as it is: keys follow from ports.
func MatchFound(_, have *stack.Stack) *stack.Stack { return have }
