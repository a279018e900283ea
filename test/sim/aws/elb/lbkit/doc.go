// Package lbkit holds what the Classic and the second ELB API have in common:
// operations by the members of their requests, tags, ids, names of zones
// in DNS, checks of subnets and security groups, and the record of which
// network objects a load balancer still holds.
//
// It knows no load balancer and no operation; whatever differs between the two
// APIs belongs to their own packages.
//
// Start with API, then Uses.
package lbkit
