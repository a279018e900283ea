package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// reserve gives a new load balancer the reserved addresses that the Service names: one
// of IPv4, and on lb one of IPv6 besides.
// Source: Oracle release notes, "Reserved IPv6 addresses for load balancers" (2026-05-21).
func (b *builder) reserve(want *Balancer) {
	addresses, where := addressesAsked(b.in)
	switch {
	case !b.checkReserved(want.Private):
		return
	case where == reservedPrivateKey.Name:
		b.reservePrivate(want, addresses[0])
		return
	case len(addresses) == 0:
		return
	}
	if why := b.unpaired(addresses, where); why != "" {
		b.problems.Refuse(where, strings.Join(addresses, ","), why, "one IPv4 address, and on lb one of IPv6 beside it, where spec.ipFamilies has both")
		return
	}
	for _, ip := range addresses {
		known, ok := b.facts.Addresses[ip]
		switch {
		case !ok && isV6(ip):
			b.problems.Refuse(where, ip, "is no reserved IPv6 address of the subnet of the load balancer, or may not be seen", "a reserved IPv6 address of the subnet")
		case !ok:
			b.problems.Refuse(where, ip, "is no reserved public IPv4 address of the tenancy, or may not be seen", "a reserved public IPv4 address")
		case known.Subnet != "" && !slices.Contains(want.Subnets, known.Subnet):
			b.problems.Refuse(where, ip, "is of subnet "+known.Subnet+", which the load balancer is not in", "a reserved IPv6 address of its subnet")
		case !known.Available:
			b.problems.Refuse(where, ip, "is in use by "+cmp.Or(known.User, "something else"), "a reserved public address that is free")
		default:
			want.Reserved = append(want.Reserved, known.ID)
		}
	}
}

// checkReserved refuses private addresses of a public load balancer, and public ones of a private one; false: there is one.
func (b *builder) checkReserved(private bool) bool {
	if said := reservedPrivateKey.Get(b.in.Values); said != "" && !private {
		b.problems.Refuse(reservedPrivateKey.Name, said, "is private, but the load balancer is public", "no address, or an internal load balancer")
		return false
	}
	if addresses, where := addressesAsked(b.in); private && where != reservedPrivateKey.Name && len(addresses) > 0 {
		b.problems.Refuse(where, addresses[0], "is public, but the load balancer is internal", "no address, or a load balancer that is not internal")
		return false
	}
	return true
}

// reservePrivate gives a new internal load balancer a reserved private address: the
// address, or its OCID.
// Sources: Oracle release notes, "Reserved private IP address" (2026-05-26);
// CreateLoadBalancerDetails and CreateNetworkLoadBalancerDetails, reservedIps.
func (b *builder) reservePrivate(want *Balancer, asked string) {
	known, ok := b.facts.Addresses[asked]
	where, legal := reservedPrivateKey.Name, "a reserved private IPv4 address of its subnet that is free"
	switch {
	case want.Assigned != "":
		b.problems.Refuse(where, asked, "cannot be beside "+assignedKey.Name+": "+want.Assigned, "one of the two")
	case !slices.Contains(b.in.Backends.Families, corev1.IPv4Protocol):
		b.problems.Refuse(where, asked, "is of IPv4, but the Service is of IPv6 alone", "no address, or spec.ipFamilies with IPv4")
	case !ok:
		b.problems.Refuse(where, asked, "is no reserved private address of the subnet of the load balancer, or may not be seen", legal)
	case !slices.Contains(want.Subnets, known.Subnet):
		b.problems.Refuse(where, asked, "is of subnet "+known.Subnet+", which the load balancer is not in", legal)
	case !known.Available:
		b.problems.Refuse(where, asked, "is in use by "+cmp.Or(known.User, "something else"), legal)
	default:
		want.Reserved = []string{known.ID}
	}
}

// unpaired says why addresses cannot be those of one load balancer; empty: they can.
func (b *builder) unpaired(addresses []string, where string) string {
	six := slices.ContainsFunc(addresses, isV6)
	switch {
	case len(addresses) > 1 && (isV6(addresses[0]) == isV6(addresses[1])):
		return "has two addresses of one family"
	case six && (b.in.Kind != LB || len(addresses) == 1 || where != reservedKey.Name):
		return "has an IPv6 address, which " + reservedKey.Name + " can have beside one of IPv4 on load balancers of kind lb only"
	case six && len(b.in.Backends.Families) < 2:
		return "has an IPv6 address, but the Service is of IPv4 alone"
	}
	return ""
}
