package model

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// Judge returns the problems of a new Service that follow from its annotations and fields alone.
func Judge(in Input) annotations.Problems {
	b := &builder{in: in, facts: &Facts{}, have: &stack.Stack{}, out: &stack.Stack{Owner: in.Owner}, product: productOf(in.Kind)}
	b.checkFields()
	b.checkReserved(isInternal(in))
	if in.Kind == LB {
		b.shape(&Balancer{}, Balancer{}, false)
	}
	return b.problems
}
