// Package model says what a Service wants of AWS, in values: its annotations, the load
// balancer with all that is below it, the rules in the groups of nodes, and how wanted and
// found are compared.
//
// It talks to nothing; providers/aws/wire does. Start at [Cloud], the table of contents;
// then kinds.go (what there is), lookup.go (what is asked for, on which both halves agree),
// names.go, build.go (what is wanted) and diff.go (how it is compared).
package model
