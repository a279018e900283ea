package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// keepServing returns the existing resources with today's nodes behind them: members of
// the target pool, or groups and the backend service's links to them.
func keepServing(in input, facts *Facts, have *stack.Stack) *stack.Stack {
	if facts == nil {
		return have
	}
	b := newBuilder(in, facts, have)
	b.members()
	groups := b.followGroups()
	for _, r := range have.Resources {
		if r.Proof == stack.None {
			continue
		}
		switch spec := r.Spec.(type) {
		case Pool:
			spec.Instances = b.poolInstances()
			r.Spec = spec
		case Backend:
			if len(groups) > 0 {
				spec.Groups = groups
				r.Spec = spec
			}
		case Group, NEG:
			if _, known := b.out.Get(r.Key); known {
				continue
			}
		}
		b.out.Put(r)
	}
	b.out.Sort()
	return b.out
}

// followGroups wants the groups of the kind that the backend service has, and
// keeps links to groups that are not ours.
func (b *builder) followGroups() []stack.Ref {
	var old Backend
	for r, spec := range stack.Each[Backend](b.have, KindBackend) {
		if r.Proof != stack.None && spec.Scheme == b.scheme {
			old = spec
		}
	}
	if len(old.Groups) == 0 {
		return nil
	}
	var refs []stack.Ref
	if isNEG(old.Groups[0]) {
		refs = b.negs()
	} else {
		refs = b.groups()
	}
	for _, r := range old.Groups {
		if r.ID != "" {
			refs = append(refs, r)
		}
	}
	slices.SortFunc(refs, stack.Ref.Compare)
	return refs
}
