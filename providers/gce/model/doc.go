// Package model says what a Service wants of Google Cloud, in values: its
// annotations, the load balancer with all that is below it, firewalls, and the rules
// by which wanted and found are compared.
//
// It talks to nothing; providers/gce/wire does. Start at [Cloud], the table of
// contents; then kinds.go (what there is, and what both halves agree on), names.go,
// build.go (what is wanted) and diff.go (how it is compared).
package model
