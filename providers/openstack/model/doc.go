// Package model computes, without I/O, the resources that a Service needs in an OpenStack
// cloud: its annotations, the load balancer of Octavia with its parts, a floating IP, and
// the rules by which desired and observed state are compared.
//
// All calls to the cloud are in providers/openstack/wire. Start at [Cloud], the table of
// contents, then [Build].
package model
