// Package model computes, without I/O, the resources that a Service needs in Oracle Cloud:
// its annotations, the load balancer of either product with its parts, the rules of
// security lists and network security groups, and how desired and observed state are
// compared.
//
// All calls to the cloud are in providers/oci/wire. Start at [Cloud], the table of
// contents, then [Build].
package model
