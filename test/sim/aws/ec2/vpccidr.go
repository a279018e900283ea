package ec2

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// maxCIDRs is how many IPv4 blocks a VPC can have. Source: Amazon VPC quotas.
const maxCIDRs = 5

type vpcBlockXML struct {
	ID    string    `xml:"vpcId"`
	CIDR  *cidrXML  `xml:"cidrBlockAssociation"`
	CIDR6 *cidr6XML `xml:"ipv6CidrBlockAssociation"`
}

// associateVpcCidrBlock adds a secondary IPv4 block or the Amazon IPv6 block.
func associateVpcCidrBlock(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	out := vpcBlockXML{ID: v.ID}
	wants6, _, err := c.Bool("AmazonProvidedIpv6CidrBlock")
	if err != nil {
		return nil, err
	}
	if wants6 {
		if v.IPv6CIDR != "" {
			return nil, tooManyCIDRs(v.ID, 1)
		}
		v.IPv6CIDR = amazonIPv6(v.ID)
		x := c.cidr6XML(v, "associating")
		out.CIDR6 = &x
	} else {
		block, err := c.moreBlock(v)
		if err != nil {
			return nil, err
		}
		v.MoreCIDRs = append(slices.Clone(v.MoreCIDRs), block.String())
		out.CIDR = &cidrXML{association("vpc-cidr-assoc", v.ID, block.String()), block.String(), statusXML{"associating"}}
	}
	c.st.vpcs[v.ID] = v
	return out, nil
}

func tooManyCIDRs(vpc string, limit int) error {
	return query.Errorf("CidrLimitExceeded", "This network %s has met its maximum number of allowed CIDRs: %d", vpc, limit)
}

func (c *call) cidr6XML(v VPC, state string) cidr6XML {
	return cidr6XML{association("vpc-cidr-assoc", v.ID, v.IPv6CIDR), v.IPv6CIDR, statusXML{state}, c.opt.Region, "Amazon"}
}

// moreBlock reads and checks the secondary block that a call wants.
func (c *call) moreBlock(v VPC) (netip.Prefix, error) {
	text, err := need(c, "CidrBlock")
	if err != nil {
		return netip.Prefix{}, err
	}
	p, ok := canonical(text, false)
	switch {
	case !ok || p.Bits() < 16 || p.Bits() > 28 || overlapsAny(p, v.cidrs()):
		return netip.Prefix{}, query.Errorf("InvalidVpc.Range", "The CIDR '%s' is invalid.", text)
	case len(v.cidrs()) >= maxCIDRs:
		return netip.Prefix{}, tooManyCIDRs(v.ID, maxCIDRs)
	}
	return p, nil
}

// disassociateVpcCidrBlock takes a block from a VPC, unless it is the first one
// or a subnet is made of it.
func disassociateVpcCidrBlock(c *call) (any, error) {
	id, err := need(c, "AssociationId")
	if err != nil {
		return nil, err
	}
	for _, v := range sorted(c.st.vpcs) {
		out := vpcBlockXML{ID: v.ID}
		var gone string
		for n, cidr := range v.cidrs() {
			if association("vpc-cidr-assoc", v.ID, cidr) != id {
				continue
			}
			if n == 0 {
				return nil, query.Errorf("OperationNotPermitted", "The vpc CIDR block with association ID %s may not be disassociated. It is the primary IPv4 CIDR block of the VPC", id)
			}
			gone = cidr
			out.CIDR = &cidrXML{id, cidr, statusXML{"disassociating"}}
			v.MoreCIDRs = slices.DeleteFunc(slices.Clone(v.MoreCIDRs), func(o string) bool { return o == cidr })
		}
		if v.IPv6CIDR != "" && association("vpc-cidr-assoc", v.ID, v.IPv6CIDR) == id {
			x := c.cidr6XML(v, "disassociating")
			gone, out.CIDR6, v.IPv6CIDR = v.IPv6CIDR, &x, ""
		}
		if gone == "" {
			continue
		}
		if c.blockInUse(v.ID, gone) {
			return nil, query.Errorf("OperationNotPermitted", "The vpc CIDR block with association ID %s may not be disassociated. It is in use by a subnet", id)
		}
		c.st.vpcs[v.ID] = v
		return out, nil
	}
	return nil, query.Errorf("InvalidVpcCidrBlockAssociationID.NotFound", "The vpc CIDR block association ID '%s' does not exist", id)
}

func (c *call) blockInUse(vpc, block string) bool {
	for _, s := range c.st.subnets {
		for _, text := range []string{s.CIDR, s.IPv6CIDR} {
			if p, err := netip.ParsePrefix(text); err == nil && s.VPC == vpc && within(p, []string{block}) {
				return true
			}
		}
	}
	return false
}
