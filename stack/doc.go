// Package stack is the model: every cloud resource that belongs to one Service,
// as plain values with references between them.
//
// The same types describe the desired and the observed state, so that a plan is
// a comparison of two values (package stack/diff). There is no common load
// balancer model: the content of a resource is its Spec, a struct of its
// provider.
//
// The package performs no I/O and is independent of clouds. Start at [Resource].
package stack
