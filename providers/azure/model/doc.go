// Package model computes, without I/O, the resources that a Service needs in Azure: its
// annotations, its entries in load balancers and in the security group, public IPs, and the
// rules by which desired and observed state are compared. Objects that Services share are
// read and written whole; found.go and merge.go extract a Service's part and merge it.
//
// All calls to the cloud are in providers/azure/wire. Start at [Cloud], the table of
// contents; then kinds.go (the kinds, shared by both halves), names.go, contract.go (what a
// read and a write of each kind do), build.go (the desired stack) and diff.go (how it is
// compared).
package model
