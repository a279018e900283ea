package aws

import (
	"github.com/berth-lb/berth/stack"
)

// follow is what is there, with today's nodes behind it.
func follow(in input, facts *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	ids, _ := instances(in, facts)
	for _, r := range have.Resources {
		if r.Proof == stack.None {
			continue
		}
		switch spec := r.Spec.(type) {
		case ClassicInstances:
			spec.Instances = ids
			r.Spec = spec
		case Targets:
			spec.Targets = targetsOn(have, r.In, ids)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// targetsOn are the instances on the port of a target group that is there.
func targetsOn(have *stack.Stack, group stack.Key, ids []string) []Target {
	found, _ := have.Get(group)
	spec, ok := found.Spec.(TargetGroup)
	if !ok {
		return nil
	}
	var out []Target
	for _, id := range ids {
		out = append(out, Target{ID: id, Port: spec.Port})
	}
	return out
}
