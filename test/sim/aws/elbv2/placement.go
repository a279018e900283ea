package elbv2

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// addressing is the members of a request that say which addresses a load balancer has.
type addressing struct {
	IPType    string `xml:"IpAddressType" enum:"ipv4|dualstack|dualstack-without-public-ipv4"`
	SourceNAT string `xml:"EnablePrefixForIpv6SourceNat,omitempty" enum:"on|off"`
}

// places is the members of a request that say where a load balancer stands.
type places struct {
	Subnets        []string
	SubnetMappings []zone
}

// zones gives both members as one list.
func (p places) zones() []zone {
	var out []zone
	for _, id := range p.Subnets {
		out = append(out, zone{Subnet: id})
	}
	return append(out, p.SubnetMappings...)
}

// settle checks the wanted subnets of a load balancer and sets its zones and its
// VPC. What old holds already was checked before.
func (c *call) settle(lb, old *loadBalancer, p places, want []zone) error {
	if len(p.Subnets) > 0 && len(p.SubnetMappings) > 0 {
		return query.Errorf("ValidationError", "You must specify either subnets or subnet mappings, but not both")
	}
	var held []string
	if old != nil {
		held = subnetIDs(old.Zones)
	}
	found, err := lbkit.Subnets(c.Dir, subnetIDs(want), held)
	switch {
	case len(want) == 0:
		return query.Errorf("ValidationError", "At least one subnet must be specified")
	case err != nil:
		return err
	}
	if lb.SourceNAT == "on" && lb.IPType == ipv4 {
		return invalidConfiguration("EnablePrefixForIpv6SourceNat cannot be 'on' for load balancers with IP address type 'ipv4'")
	}
	zones := make([]zone, len(want))
	for i, z := range want {
		z.Zone = found[i].Zone
		if err := c.address(lb, old, &z, found[i]); err != nil {
			return err
		}
		if z.AllocationID != "" && slices.ContainsFunc(zones[:i], func(o zone) bool { return o.AllocationID == z.AllocationID }) {
			return invalidConfiguration("The allocation ID '%s' was specified more than once", z.AllocationID)
		}
		zones[i] = z
	}
	lb.Zones, lb.VPC = zones, found[0].VPC
	return nil
}

func subnetIDs(zones []zone) []string {
	var out []string
	for _, z := range zones {
		out = append(out, z.Subnet)
	}
	return out
}

// address checks the addresses that are wanted in one subnet.
func (c *call) address(lb, old *loadBalancer, z *zone, s network.Subnet) error {
	if lb.IPType != ipv4 && s.IPv6CIDR == "" {
		return query.Errorf("InvalidSubnet", "The subnet '%s' does not have an associated IPv6 CIDR block", s.ID)
	}
	if z.NATPrefix != "" && lb.SourceNAT != "on" {
		return invalidConfiguration("A source NAT prefix can be specified only if EnablePrefixForIpv6SourceNat is 'on'")
	}
	if lb.SourceNAT == "on" && z.NATPrefix == "" {
		z.NATPrefix = "auto_assigned"
	}
	if err := checkFixed(lb, z, s); err != nil {
		return err
	}
	kept := func(o *loadBalancer) bool {
		return o != nil && slices.ContainsFunc(o.Zones, func(h zone) bool { return h.PrivateIP == z.PrivateIP })
	}
	if z.PrivateIP != "" && !kept(old) && !kept(c.State.byName(lb.Name)) && c.Dir.InUse(s.ID, z.PrivateIP) {
		return invalidConfiguration("The private IPv4 address '%s' is already in use", z.PrivateIP)
	}
	return c.elastic(lb, old, z)
}

// checkFixed checks addresses that are taken from the subnet itself.
func checkFixed(lb *loadBalancer, z *zone, s network.Subnet) error {
	if z.PrivateIP != "" {
		if lb.Scheme != internal {
			return invalidConfiguration("A private IPv4 address can be specified only for internal load balancers")
		}
		if !cidrContains(z.PrivateIP, s.CIDR) {
			return invalidConfiguration("The private IPv4 address '%s' is not in the range of subnet '%s'", z.PrivateIP, s.ID)
		}
	}
	if z.IPv6 != "" {
		if lb.IPType == ipv4 {
			return invalidConfiguration("An IPv6 address can be specified only for dualstack load balancers")
		}
		if !cidrContains(z.IPv6, s.IPv6CIDR) {
			return invalidConfiguration("The IPv6 address '%s' is not in the range of subnet '%s'", z.IPv6, s.ID)
		}
	}
	return nil
}

// elastic checks an elastic IP address: it exists, is free, and the load balancer faces the internet.
func (c *call) elastic(lb, old *loadBalancer, z *zone) error {
	if z.AllocationID == "" {
		return nil
	}
	if lb.Scheme == internal {
		return invalidConfiguration("An allocation ID can be specified only for internet-facing load balancers")
	}
	ip, ok := c.Dir.Address(z.AllocationID)
	if !ok {
		return query.Errorf("AllocationIdNotFound", "The allocation ID '%s' does not exist", z.AllocationID)
	}
	mine := old != nil && slices.ContainsFunc(old.Zones, func(o zone) bool { return o.AllocationID == z.AllocationID })
	if !mine && (ip.AssociatedWith != "" || len(c.AddressUsers(z.AllocationID)) > 0) {
		return query.Errorf("ResourceInUse", "The allocation IDs are not available for use")
	}
	z.PublicIP = ip.PublicIP
	return nil
}

func cidrContains(ip, cidr string) bool {
	addr, err := netip.ParseAddr(ip)
	prefix, perr := netip.ParsePrefix(cidr)
	return err == nil && perr == nil && prefix.Contains(addr)
}

// maxGroups is how many security groups one network interface takes.
// Source: Amazon VPC quotas.
const maxGroups = 5

// setGroups checks and sets the security groups of a new load balancer.
func (c *call) setGroups(lb *loadBalancer, ids []string) error {
	if len(ids) > maxGroups {
		return invalidConfiguration("A load balancer can have at most '%d' security groups", maxGroups)
	}
	if err := lbkit.Groups(c.Dir, lb.VPC, ids); err != nil {
		return err
	}
	lb.Groups = append([]string(nil), ids...)
	if len(ids) > 0 && lb.PrivateLink == "" {
		lb.PrivateLink = "on"
	}
	return nil
}

type setSecurityGroupsInput struct {
	SecurityGroups []string `required:"true"`
	PrivateLink    string   `xml:"EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic" enum:"on|off"`
	ofBalancer
}

func setSecurityGroups(c *call, lb *loadBalancer, in setSecurityGroupsInput) (any, error) {
	ids := in.SecurityGroups
	switch {
	case len(lb.Groups) == 0 && len(ids) > 0:
		return nil, invalidConfiguration("You cannot set security groups on a Network Load Balancer which was created without any security groups.")
	case len(lb.Groups) > 0 && len(ids) == 0:
		return nil, invalidConfiguration("You cannot remove all security groups from a Network Load Balancer which was created with security groups.")
	case len(ids) == 0:
		return nil, query.Errorf("ValidationError", "At least one security group must be specified")
	}
	if err := c.setGroups(lb, ids); err != nil {
		return nil, err
	}
	lb.PrivateLink = cmp.Or(in.PrivateLink, lb.PrivateLink)
	c.hold(lb)
	return struct {
		Groups      []string `xml:"SecurityGroupIds"`
		PrivateLink string   `xml:"EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic,omitempty"`
	}{lb.Groups, lb.PrivateLink}, nil
}

type setSubnetsInput struct {
	addressing
	places
	ofBalancer
}

func setSubnets(c *call, lb *loadBalancer, in setSubnetsInput) (any, error) {
	changed := *lb
	changed.IPType, changed.SourceNAT = cmp.Or(in.IPType, lb.IPType), cmp.Or(in.SourceNAT, lb.SourceNAT)
	want := in.zones()
	if len(want) == 0 {
		return nil, query.Errorf("ValidationError", "At least one subnet must be specified")
	}
	if err := lb.keeps(want); err != nil {
		return nil, err
	}
	if err := c.settle(&changed, lb, in.places, want); err != nil {
		return nil, err
	}
	if changed.VPC != lb.VPC {
		return nil, invalidConfiguration("All subnets must belong to the VPC of the load balancer: '%s'", lb.VPC)
	}
	*lb = changed
	c.hold(lb)
	return struct {
		AvailabilityZones []zoneView
		addressing
	}{lb.zoneViews(), addressing{lb.IPType, lb.SourceNAT}}, nil
}

// keeps refuses that the addresses of an enabled zone change. Source: API reference, SetSubnets.
func (lb *loadBalancer) keeps(want []zone) error {
	for _, z := range lb.Zones {
		i := slices.IndexFunc(want, func(w zone) bool { return w.Subnet == z.Subnet })
		if i < 0 {
			continue
		}
		w := &want[i]
		if w.AllocationID == "" && w.PrivateIP == "" && w.IPv6 == "" {
			w.AllocationID, w.PrivateIP, w.IPv6 = z.AllocationID, z.PrivateIP, z.IPv6
		}
		if w.AllocationID != z.AllocationID || w.PrivateIP != z.PrivateIP {
			return invalidConfiguration("The addresses of the enabled subnet '%s' cannot be changed", z.Subnet)
		}
	}
	return nil
}

type setIPAddressTypeInput struct {
	IPType string `xml:"IpAddressType" required:"true" enum:"ipv4|dualstack|dualstack-without-public-ipv4"`
	ofBalancer
}

func setIPAddressType(c *call, lb *loadBalancer, in setIPAddressTypeInput) (any, error) {
	ip := in.IPType
	if ip != ipv4 && ip != dualstack {
		return nil, invalidConfiguration("The IP address type '%s' is supported only for internet-facing load balancers with type 'application'", ip)
	}
	for _, z := range lb.Zones {
		if s, _ := c.Dir.Subnet(z.Subnet); ip != ipv4 && s.IPv6CIDR == "" {
			return nil, query.Errorf("InvalidSubnet", "The subnet '%s' does not have an associated IPv6 CIDR block", z.Subnet)
		}
	}
	if ip == ipv4 && lb.SourceNAT == "on" {
		return nil, invalidConfiguration("EnablePrefixForIpv6SourceNat must be 'off' for IP address type 'ipv4'")
	}
	lb.IPType = ip
	return addressing{IPType: ip}, nil
}
