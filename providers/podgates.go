package providers

import (
	"strings"

	"github.com/berth-lb/berth/stack"
)

// PodGates describes the readiness gates with which pods wait for their load balancers: a
// pod lists a condition type as a readiness gate, and is ready once a controller sets that
// condition. The zero value means that the cloud has no such conditions.
// Source: KEP-580, pod ready++.
type PodGates struct {
	// Prefix is the prefix of all condition types of the cloud; empty: there are none.
	Prefix string
	// Of lists the conditions of observed resources.
	Of func(have *stack.Stack) []PodGate
}

// PodGate is a condition that reports to a pod that it is a healthy member of one resource.
type PodGate struct {
	Type string    // of the condition
	Of   stack.Key // the observed resource that has the members
	// Service is the one, in the namespace of the owner, whose pods are the members; empty:
	// the owner.
	Service string
}

// Covers reports whether a type of condition is one of the cloud's.
func (g PodGates) Covers(conditionType string) bool {
	return g.Prefix != "" && strings.HasPrefix(conditionType, g.Prefix)
}
