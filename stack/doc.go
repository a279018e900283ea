// Package stack is the model: every cloud resource that belongs to one Service,
// as plain values with references between them.
//
// The same types describe what is wanted and what was found, so that a plan is
// a comparison of two values (package stack/diff) and nothing else. There is no
// common load balancer model here: what a resource is, says its Spec, a struct
// of the provider that knows it.
//
// The package performs no I/O and knows no cloud. Start at [Resource].
package stack
