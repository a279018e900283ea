// Package model says what a Service wants of Azure, in values: its annotations, what
// it has on load balancers and in the security group, public IPs, and the rules by
// which wanted and found are compared. Objects that Services share are read and
// written whole; found.go and merge.go take a Service's part out and put it in.
//
// It talks to nothing; providers/azure/wire does. Start at [Cloud], the table of
// contents; then kinds.go (what there is, and what both halves agree on), names.go,
// contract.go (what a read and a write of each kind do), build.go (what is wanted) and
// diff.go (how it is compared).
package model
