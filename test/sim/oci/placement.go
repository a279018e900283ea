package oci

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// holder is the key of addresses that says which load balancer has them.
const holder = "holder"

// checkSubnets gives the subnets of a load balancer, if it may be there.
// Sources: API reference, CreateLoadBalancerDetails; Networking documentation, "Private
// versus Public Subnets"; Load Balancing documentation, "a public load balancer needs one
// regional subnet or two of different availability domains".
func (v *visit) checkSubnets(ids []string, private bool) ([]rest.Object, error) {
	var out []rest.Object
	for _, id := range ids {
		s, ok := v.State.Get(subnets, id)
		if !ok {
			return nil, relatedNotFound("subnet", id)
		}
		if !private && s.Truth("prohibitPublicIpOnVnic") {
			return nil, invalidParam("subnet %s is private, and the load balancer is public", id)
		}
		out = append(out, s)
	}
	if len(out) == 0 || len(out) > 2 {
		return nil, invalidParam("subnetIds: must be one or two")
	}
	if len(out) == 2 && (out[0].Text("vcnId") != out[1].Text("vcnId") || out[0].Text("availabilityDomain") == out[1].Text("availabilityDomain")) {
		return nil, invalidParam("subnetIds: two subnets must be of one VCN and of different availability domains")
	}
	if regional := out[0].Text("availabilityDomain") == ""; !private && !regional && len(out) == 1 {
		return nil, invalidParam("subnetIds: a public load balancer needs a regional subnet, or two of different availability domains")
	}
	if private && len(out) == 2 {
		return nil, invalidParam("subnetIds: a private load balancer has one subnet")
	}
	return out, nil
}

// checkGroups refuses network security groups that a load balancer cannot be in.
// Source: API reference, CreateLoadBalancerDetails and Vnic: at most five.
func (v *visit) checkGroups(ids []string, vcn string) error {
	for i, id := range ids {
		g, ok := v.State.Get(groups, id)
		if !ok {
			return relatedNotFound("network security group", id)
		}
		if g.Text("vcnId") != vcn {
			return invalidParam("network security group %s is of another VCN", id)
		}
		if slices.Contains(ids[:i], id) {
			return invalidParam("networkSecurityGroupIds: %s is listed twice", id)
		}
	}
	if most := v.cloud.opt.Limits.Groups; len(ids) > most {
		return invalidParam("networkSecurityGroupIds: there are %d, and there may be %d", len(ids), most)
	}
	return nil
}

// public is a new public address of Oracle's pool.
func (s *state) public() netip.Addr {
	s.lent++
	return netip.AddrFrom4([4]byte{198, byte(18 + s.lent>>16&1), byte(s.lent >> 8), byte(s.lent)})
}

// private is a free address of a block of a subnet, from its eleventh on.
func (s *state) private(subnet rest.Object, cidr string) (netip.Addr, error) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return netip.Addr{}, invalidParam("subnet %s has no addresses of this kind", subnet.Text("id"))
	}
	a := prefix.Addr()
	for range 10 {
		a = a.Next()
	}
	for ; prefix.Contains(a); a = a.Next() {
		if !s.inUse(subnet.Text("id"), a) {
			return a, nil
		}
	}
	return a, rest.Refuse(400, "LimitExceeded", "subnet %s has no free address", subnet.Text("id"))
}

func (s *state) inUse(subnet string, a netip.Addr) bool {
	return s.taken[subnet+" "+a.String()]
}

// lend enters an address of a subnet as one of a load balancer.
func (s *state) lend(lb string, subnet rest.Object, a netip.Addr, compartment string) {
	table := privateIPs
	if a.Is6() {
		table = ipv6s
	}
	s.take(subnet.Text("id"), a)
	s.store(table, rest.Object{
		"id": s.id(table), "ipAddress": a.String(), "subnetId": subnet.Text("id"), "compartmentId": compartment, "displayName": "load balancer",
		"lifetime": "EPHEMERAL", lifecycle: "AVAILABLE", "isPrimary": true, "freeformTags": rest.Object{}, "definedTags": rest.Object{}, holder: lb,
	})
}

// trim gives back what a load balancer does not show any more.
func (s *state) trim(id string, lb rest.Object) {
	shown := map[string]bool{}
	for _, a := range lb.Objects("ipAddresses") {
		shown[a.Text("ipAddress")] = true
	}
	s.releaseBut(id, shown)
}

// release gives the addresses of a load balancer back.
func (s *state) release(lb string) { s.releaseBut(lb, nil) }

func (s *state) releaseBut(lb string, keep map[string]bool) {
	for _, table := range []string{publicIPs, privateIPs, ipv6s} {
		for _, o := range s.All(table, rest.Where(holder, lb)) {
			switch {
			case keep[o.Text("ipAddress")]:
			case o.Text("lifetime") == "RESERVED":
				back := rest.Object{lifecycle: "AVAILABLE", "assignedEntityId": nil}
				if table != publicIPs {
					back = rest.Object{lifecycle: "AVAILABLE", "ipState": "AVAILABLE"}
				}
				s.store(table, o.Without("assignedEntityId", "assignedEntityType", holder).With(back))
			default:
				delete(s.taken, o.Text("subnetId")+" "+o.Text("ipAddress"))
				s.Drop(table, o.Text("id"))
			}
		}
	}
}

// take marks an address of a subnet as in use.
func (s *state) take(subnet string, a netip.Addr) { s.taken[subnet+" "+a.String()] = true }
