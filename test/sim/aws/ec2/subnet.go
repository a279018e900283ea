package ec2

type subnetXML struct {
	ID      string     `xml:"subnetId"`
	ARN     string     `xml:"subnetArn"`
	State   string     `xml:"state"`
	Owner   string     `xml:"ownerId"`
	VPC     string     `xml:"vpcId"`
	CIDR    string     `xml:"cidrBlock,omitempty"`
	CIDRs6  []cidr6XML `xml:"ipv6CidrBlockAssociationSet"`
	Free    int        `xml:"availableIpAddressCount"`
	Zone    string     `xml:"availabilityZone"`
	ZoneID  string     `xml:"availabilityZoneId"`
	Default bool       `xml:"defaultForAz"`
	Public  bool       `xml:"mapPublicIpOnLaunch"`
	Native  bool       `xml:"ipv6Native"`
	Tags    []tagXML   `xml:"tagSet,omitempty"`
}

func (c *call) subnetXML(s Subnet) subnetXML {
	x := subnetXML{
		ID: s.ID, ARN: c.arn("subnet", s.ID), State: "available", Owner: c.opt.Account, VPC: s.VPC, CIDR: s.CIDR,
		Free: c.st.free(s), Zone: s.Zone, ZoneID: c.zoneID(s.Zone), Default: s.DefaultForZone, Public: s.PublicIPOnLaunch,
		Native: s.CIDR == "", Tags: c.tagsShown(s.ID),
	}
	if s.IPv6CIDR != "" {
		x.CIDRs6 = []cidr6XML{{ID: associationID("subnet-cidr-assoc", s.ID, s.IPv6CIDR), CIDR: s.IPv6CIDR, State: statusXML{"associated"}}}
	}
	return x
}

func subnetProperties() properties[Subnet] {
	return properties[Subnet]{
		"availability-zone": func(_ *call, s Subnet) []string { return singleValue(s.Zone) },
		"state":             func(*call, Subnet) []string { return singleValue("available") },
		"subnet-id":         func(_ *call, s Subnet) []string { return singleValue(s.ID) },
		"vpc-id":            func(_ *call, s Subnet) []string { return singleValue(s.VPC) },
	}
}

func describeSubnets(c *call) (any, error) {
	return describeAs(c, listing[Subnet]{
		kind: kindOf("subnet"), param: "SubnetId", id: func(s Subnet) string { return s.ID },
		props: subnetProperties(), objects: sortedByID(c.st.subnets),
	}, "subnetSet", c.subnetXML)
}
