// Package model computes the desired state of a Service on AWS: its annotations, the
// load balancer with all of its parts, the rules in the groups of nodes, and the
// comparison of desired and observed state.
//
// It makes no calls; providers/aws/wire does. Start at [Cloud], the table of contents;
// then kinds.go (the resources), lookup.go (the look-ups, the contract with package
// wire), names.go, build.go (the desired state) and diff.go (the comparison).
package model
