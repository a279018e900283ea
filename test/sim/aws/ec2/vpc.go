package ec2

type statusXML struct {
	State string `xml:"state"`
}

type cidrXML struct {
	ID    string    `xml:"associationId"`
	CIDR  string    `xml:"cidrBlock"`
	State statusXML `xml:"cidrBlockState"`
}

type cidr6XML struct {
	ID     string    `xml:"associationId"`
	CIDR   string    `xml:"ipv6CidrBlock"`
	State  statusXML `xml:"ipv6CidrBlockState"`
	Border string    `xml:"networkBorderGroup,omitempty"`
	Pool   string    `xml:"ipv6Pool,omitempty"`
}

type vpcXML struct {
	ID      string     `xml:"vpcId"`
	Owner   string     `xml:"ownerId"`
	State   string     `xml:"state"`
	CIDR    string     `xml:"cidrBlock"`
	CIDRs   []cidrXML  `xml:"cidrBlockAssociationSet"`
	CIDRs6  []cidr6XML `xml:"ipv6CidrBlockAssociationSet,omitempty"`
	DHCP    string     `xml:"dhcpOptionsId"`
	Tenancy string     `xml:"instanceTenancy"`
	Default bool       `xml:"isDefault"`
	Tags    []tagXML   `xml:"tagSet,omitempty"`
}

func associationID(prefix, owner, cidr string) string { return ID(prefix, owner+"/"+cidr) }

func (c *call) vpcXML(v VPC) vpcXML {
	x := vpcXML{
		ID: v.ID, Owner: c.opt.Account, State: "available", CIDR: v.CIDR, DHCP: ID("dopt", "default"),
		Tenancy: "default", Default: v.Default, Tags: c.tagsShown(v.ID),
	}
	x.CIDRs = []cidrXML{{associationID("vpc-cidr-assoc", v.ID, v.CIDR), v.CIDR, statusXML{"associated"}}}
	if v.IPv6CIDR != "" {
		x.CIDRs6 = []cidr6XML{{
			associationID("vpc-cidr-assoc", v.ID, v.IPv6CIDR), v.IPv6CIDR, statusXML{"associated"}, c.opt.Region, "Amazon",
		}}
	}
	return x
}

func describeVpcs(c *call) (any, error) {
	return describeAs(c, listing[VPC]{
		kind: kindOf("vpc"), param: "VpcId", id: func(v VPC) string { return v.ID },
		props: properties[VPC]{
			"vpc-id":     func(_ *call, v VPC) []string { return singleValue(v.ID) },
			"is-default": func(_ *call, v VPC) []string { return boolValues(v.Default) },
		},
		objects: sortedByID(c.st.vpcs),
	}, "vpcSet", c.vpcXML)
}
