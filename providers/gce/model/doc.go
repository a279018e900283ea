// Package model computes the desired state of a Service on Google Cloud: its
// annotations, the load balancer with all of its parts, firewalls, and the rules that
// compare desired and observed state.
//
// It makes no calls; providers/gce/wire does. Start at [Cloud], the table of contents;
// then kinds.go (the resources, and the contract with package wire), names.go, build.go
// (the desired state) and diff.go (the comparison).
package model
