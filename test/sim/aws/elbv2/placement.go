package elbv2

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// readMappings reads Subnets or SubnetMappings as one list.
func (c *call) readMappings() []zone {
	var out []zone
	for _, id := range c.Strs("Subnets") {
		out = append(out, zone{Subnet: id})
	}
	c.Each("SubnetMappings", func(e *lbkit.Reader) {
		out = append(out, zone{
			Subnet: e.Str("SubnetId"), AllocationID: e.Str("AllocationId"), PrivateIP: e.Str("PrivateIPv4Address"),
			IPv6: e.Str("IPv6Address"), NATPrefix: e.Str("SourceNatIpv6Prefix"),
		})
	})
	return out
}

// settle checks the wanted subnets of a load balancer and sets its zones and its
// VPC. What old holds already was checked before.
func (c *call) settle(lb, old *loadBalancer, want []zone) error {
	if len(c.Strs("Subnets")) > 0 && len(c.List("SubnetMappings")) > 0 {
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
	if z.PrivateIP != "" && !kept(old) && !kept(c.State.byName(lb.Name)) && lbkit.InUse(c.Dir, s.ID, z.PrivateIP) {
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
	lb.Groups = slices.Clone(ids)
	if len(ids) > 0 && lb.PrivateLink == "" {
		lb.PrivateLink = "on"
	}
	return nil
}

func setSecurityGroups(c *call) (any, error) {
	c.Required("SecurityGroups")
	private := c.Text("EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic", lbkit.OneOf("on", "off"))
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	ids := c.Strs("SecurityGroups")
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
	if private != "" {
		lb.PrivateLink = private
	}
	c.hold(lb)
	return struct {
		SecurityGroupIds query.Members[string] //nolint:revive // The name is the element of the answer.
		Enforce          string                `xml:"EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic,omitempty"`
	}{query.Members[string]{Member: lb.Groups}, lb.PrivateLink}, nil
}

func setSubnets(c *call) (any, error) {
	ip := c.Text("IpAddressType", lbkit.OneOf(ipv4, dualstack, "dualstack-without-public-ipv4"))
	nat := c.Text("EnablePrefixForIpv6SourceNat", lbkit.OneOf("on", "off"))
	want := c.readMappings()
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	changed := *lb
	if ip != "" {
		changed.IPType = ip
	}
	if nat != "" {
		changed.SourceNAT = nat
	}
	if len(want) == 0 {
		return nil, query.Errorf("ValidationError", "At least one subnet must be specified")
	}
	if err := lb.keeps(want); err != nil {
		return nil, err
	}
	if err := c.settle(&changed, lb, want); err != nil {
		return nil, err
	}
	if changed.VPC != lb.VPC {
		return nil, invalidConfiguration("All subnets must belong to the VPC of the load balancer: '%s'", lb.VPC)
	}
	*lb = changed
	c.hold(lb)
	return struct {
		AvailabilityZones            query.Members[zoneView]
		IpAddressType                string //nolint:revive // The name is the element of the answer.
		EnablePrefixForIpv6SourceNat string `xml:",omitempty"`
	}{lb.zoneViews(), lb.IPType, lb.SourceNAT}, nil
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

func setIPAddressType(c *call) (any, error) {
	ip := c.Need("IpAddressType", lbkit.OneOf(ipv4, dualstack, "dualstack-without-public-ipv4"))
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
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
	return struct{ IpAddressType string }{ip}, nil //nolint:revive // The name is the element of the answer.
}
