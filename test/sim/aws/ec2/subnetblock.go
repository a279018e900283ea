package ec2

import (
	"net/netip"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type subnetBlockXML struct {
	Subnet string   `xml:"subnetId"`
	CIDR6  cidr6XML `xml:"ipv6CidrBlockAssociation"`
}

func subnetBlock(s Subnet, block, state string) subnetBlockXML {
	return subnetBlockXML{s.ID, cidr6XML{ID: association("subnet-cidr-assoc", s.ID, block), CIDR: block, State: statusXML{state}}}
}

// ipv6Block checks an IPv6 block for a subnet: a /44 to /64 of the VPC, in steps
// of four, that no other subnet touches.
// Source: Amazon VPC user guide, IPv6 subnet sizing.
func (c *call) ipv6Block(v VPC, text string) (string, error) {
	p, ok := canonical(text, true)
	if !ok || p.Bits() < 44 || p.Bits() > 64 || p.Bits()%4 != 0 || !within(p, []string{v.IPv6CIDR}) {
		return "", query.Errorf("InvalidSubnet.Range", "The CIDR '%s' is invalid.", text)
	}
	for _, o := range c.st.subnets {
		if o.VPC == v.ID && overlapsAny(p, []string{o.IPv6CIDR}) {
			return "", query.Errorf("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", text)
		}
	}
	return p.String(), nil
}

func associateSubnetCidrBlock(c *call) (any, error) {
	s, err := required(c, c.st.subnets, kindSubnet(), "SubnetId")
	if err != nil {
		return nil, err
	}
	text, err := need(c, "Ipv6CidrBlock")
	if err != nil {
		return nil, err
	}
	if s.IPv6CIDR != "" {
		return nil, query.Errorf("CidrLimitExceeded", "This subnet %s has met its maximum number of allowed CIDRs: 1", s.ID)
	}
	if s.IPv6CIDR, err = c.ipv6Block(c.st.vpcs[s.VPC], text); err != nil {
		return nil, err
	}
	c.st.subnets[s.ID] = s
	return subnetBlock(s, s.IPv6CIDR, "associating"), nil
}

func disassociateSubnetCidrBlock(c *call) (any, error) {
	id, err := need(c, "AssociationId")
	if err != nil {
		return nil, err
	}
	for _, s := range sorted(c.st.subnets) {
		block := s.IPv6CIDR
		if block == "" || association("subnet-cidr-assoc", s.ID, block) != id {
			continue
		}
		for _, i := range c.st.interfaces {
			if i.Subnet == s.ID && len(i.IPv6) > 0 {
				return nil, query.Errorf("InvalidCidr.InUse", "%s is currently in use", block)
			}
		}
		s.IPv6CIDR, s.IPv6OnLaunch = "", false
		c.st.subnets[s.ID] = s
		return subnetBlock(s, block, "disassociating"), nil
	}
	return nil, query.Errorf("InvalidSubnetCidrBlockAssociationID.NotFound", "The subnet CIDR block association ID '%s' does not exist", id)
}

// nativeBlocks checks the blocks of a subnet without IPv4.
// Source: getmoto/moto:tests/test_ec2/test_subnets.py, verified there against AWS.
func (c *call) nativeBlocks() error {
	switch {
	case !c.Has("Ipv6CidrBlock"):
		return query.Errorf("MissingParameter", "Either 'ipv6CidrBlock' or 'ipv6IpamPoolId' should be provided.")
	case c.Has("CidrBlock"):
		return query.Errorf("InvalidParameterCombination", "When specifying ipv4 parameters, cidrBlock or ipv4IpamPoolId, you cannot set ipv6Native to true.")
	}
	return nil
}

// createDefaultSubnet makes the default subnet of a zone again, a /20 of the default VPC.
func createDefaultSubnet(c *call) (any, error) {
	if !c.Has("AvailabilityZone") && !c.Has("AvailabilityZoneId") {
		return nil, missingParameter("AvailabilityZone")
	}
	zone, err := c.subnetZone()
	if err != nil {
		return nil, err
	}
	v, ok := c.st.defaultVPC()
	if !ok {
		return nil, query.Errorf("DefaultVpcDoesNotExist", "There is no default VPC in this region.")
	}
	if s, err := c.defaultSubnet(zone); err == nil {
		return nil, query.Errorf("DefaultSubnetAlreadyExistsInAvailabilityZone", "'%s' is already the default subnet in %s.", s.ID, zone)
	}
	free, err := c.freeBlock(v)
	if err != nil {
		return nil, err
	}
	s := Subnet{ID: c.st.newID("subnet"), VPC: v.ID, Zone: zone, CIDR: free, PublicIPOnLaunch: true, DefaultForZone: true}
	c.st.subnets[s.ID] = s
	return struct {
		Subnet subnetXML `xml:"subnet"`
	}{c.subnetXML(s)}, nil
}

// freeBlock gives the lowest /20 of a VPC that no subnet touches.
func (c *call) freeBlock(v VPC) (string, error) {
	all, _ := canonical(v.CIDR, false)
	bytes := all.Addr().As4()
	for n := range 16 {
		bytes[2] = byte(n << 4)
		p := netip.PrefixFrom(netip.AddrFrom4(bytes), 20)
		taken := !all.Contains(p.Addr())
		for _, s := range c.st.subnets {
			taken = taken || s.VPC == v.ID && overlapsAny(p, []string{s.CIDR})
		}
		if !taken {
			return p.String(), nil
		}
	}
	return "", query.Errorf("InsufficientCidrBlocks", "There is no free block for a default subnet in VPC %s.", v.ID)
}
