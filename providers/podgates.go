package providers

import (
	"strings"

	"github.com/berth-lb/berth/stack"
)

// PodGates is how a cloud lets pods wait for their load balancers: a pod lists a type of
// condition as a readiness gate, and is ready no sooner than somebody sets that condition.
// The zero value means that the cloud has no such conditions.
// Source: KEP-580, pod ready++.
type PodGates struct {
	// Prefix begins the types of all conditions of the cloud; empty: there are none.
	Prefix string
	// Of lists the conditions that found resources stand for.
	Of func(have *stack.Stack) []PodGate
}

// PodGate is a condition that tells a pod whether it is a healthy member of one resource.
type PodGate struct {
	Type string    // of the condition
	Of   stack.Key // the found resource that has the members
	// Service is, in the namespace of the owner, whose pods the members are; empty: the
	// owner's.
	Service string
}

// Covers tells whether a type of condition is one of the cloud's.
func (g PodGates) Covers(conditionType string) bool {
	return g.Prefix != "" && strings.HasPrefix(conditionType, g.Prefix)
}
