package ec2

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type subnetXML struct {
	ID      string                `xml:"subnetId"`
	ARN     string                `xml:"subnetArn"`
	State   string                `xml:"state"`
	Owner   string                `xml:"ownerId"`
	VPC     string                `xml:"vpcId"`
	CIDR    string                `xml:"cidrBlock,omitempty"`
	CIDRs6  query.Items[cidr6XML] `xml:"ipv6CidrBlockAssociationSet"`
	Free    int                   `xml:"availableIpAddressCount"`
	Zone    string                `xml:"availabilityZone"`
	ZoneID  string                `xml:"availabilityZoneId"`
	Default bool                  `xml:"defaultForAz"`
	Public  bool                  `xml:"mapPublicIpOnLaunch"`
	COIP    bool                  `xml:"mapCustomerOwnedIpOnLaunch"`
	IPv6    bool                  `xml:"assignIpv6AddressOnCreation"`
	DNS64   bool                  `xml:"enableDns64"`
	Native  bool                  `xml:"ipv6Native"`
	Names   namesXML              `xml:"privateDnsNameOptionsOnLaunch"`
	Tags    *tagSet               `xml:"tagSet"`
}

type namesXML struct {
	Type string `xml:"hostnameType"`
	A    bool   `xml:"enableResourceNameDnsARecord"`
	AAAA bool   `xml:"enableResourceNameDnsAAAARecord"`
}

func (n LaunchNames) kind() string {
	if n.Type == "" {
		return "ip-name"
	}
	return n.Type
}

func (c *call) subnetXML(s Subnet) subnetXML {
	x := subnetXML{
		ID: s.ID, ARN: c.arn("subnet", s.ID), State: "available", Owner: c.opt.Account, VPC: s.VPC, CIDR: s.CIDR,
		Free: c.st.free(s), Zone: s.Zone, ZoneID: c.zoneID(s.Zone), Default: s.DefaultForZone, Public: s.PublicIPOnLaunch,
		Native: s.CIDR == "", IPv6: s.IPv6OnLaunch, DNS64: s.DNS64, Names: namesXML{s.Names.kind(), s.Names.A, s.Names.AAAA}, Tags: c.tagsShown(s.ID),
	}
	if s.IPv6CIDR != "" {
		x.CIDRs6.Item = []cidr6XML{{ID: association("subnet-cidr-assoc", s.ID, s.IPv6CIDR), CIDR: s.IPv6CIDR, State: statusXML{"associated"}}}
	}
	return x
}

func subnetProperties() properties[Subnet] {
	p := properties[Subnet]{
		"available-ip-address-count": func(c *call, s Subnet) []string { return one(strconv.Itoa(c.st.free(s))) },
		"state":                      func(*call, Subnet) []string { return one("available") },
		"subnet-id":                  func(_ *call, s Subnet) []string { return one(s.ID) },
		"vpc-id":                     func(_ *call, s Subnet) []string { return one(s.VPC) },
		"owner-id":                   func(c *call, _ Subnet) []string { return one(c.opt.Account) },
		"subnet-arn":                 func(c *call, s Subnet) []string { return one(c.arn("subnet", s.ID)) },
		"map-public-ip-on-launch":    func(_ *call, s Subnet) []string { return boolean(s.PublicIPOnLaunch) },
		"ipv6-native":                func(_ *call, s Subnet) []string { return boolean(s.CIDR == "") },
		"enable-dns64":               func(_ *call, s Subnet) []string { return boolean(s.DNS64) },
		"private-dns-name-options-on-launch.hostname-type":                        func(_ *call, s Subnet) []string { return one(s.Names.kind()) },
		"private-dns-name-options-on-launch.enable-resource-name-dns-a-record":    func(_ *call, s Subnet) []string { return boolean(s.Names.A) },
		"private-dns-name-options-on-launch.enable-resource-name-dns-aaaa-record": func(_ *call, s Subnet) []string { return boolean(s.Names.AAAA) },
		"ipv6-cidr-block-association.ipv6-cidr-block":                             func(_ *call, s Subnet) []string { return one(s.IPv6CIDR) },
		"ipv6-cidr-block-association.state": func(_ *call, s Subnet) []string {
			if s.IPv6CIDR == "" {
				return nil
			}
			return one("associated")
		},
	}.unused("customer-owned-ipv4-pool", "enable-lni-at-device-index", "ipv6-cidr-block-association.association-id",
		"map-customer-owned-ip-on-launch", "outpost-arn")
	// EC2 takes the camel case spellings as well. Source: EC2 API reference, DescribeSubnets.
	for _, name := range []string{"availability-zone", "availabilityZone"} {
		p[name] = func(_ *call, s Subnet) []string { return one(s.Zone) }
	}
	for _, name := range []string{"availability-zone-id", "availabilityZoneId"} {
		p[name] = func(c *call, s Subnet) []string { return one(c.zoneID(s.Zone)) }
	}
	for _, name := range []string{"cidr-block", "cidr", "cidrBlock"} {
		p[name] = func(_ *call, s Subnet) []string { return one(s.CIDR) }
	}
	for _, name := range []string{"default-for-az", "defaultForAz"} {
		p[name] = func(_ *call, s Subnet) []string { return boolean(s.DefaultForZone) }
	}
	return p
}

func describeSubnets(c *call) (any, error) {
	page, next, err := describe(c, listing[Subnet]{
		kind: kindSubnet(), param: "SubnetId", id: func(s Subnet) string { return s.ID },
		props: subnetProperties(), objects: sorted(c.st.subnets),
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Subnets query.Items[subnetXML] `xml:"subnetSet"`
		Next    string                 `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, s := range page {
		out.Subnets.Item = append(out.Subnets.Item, c.subnetXML(s))
	}
	return out, nil
}

func createSubnet(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	zone, err := c.subnetZone()
	if err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "subnet")
	if err != nil {
		return nil, err
	}
	native, _, err := c.Bool("Ipv6Native")
	if err != nil {
		return nil, err
	}
	// A subnet without IPv4 assigns IPv6 addresses always.
	s := Subnet{VPC: v.ID, Zone: zone, IPv6OnLaunch: native}
	if native {
		err = c.nativeBlocks()
	} else {
		s.CIDR, err = c.subnetBlock(v)
	}
	if err != nil {
		return nil, err
	}
	if text := c.Str("Ipv6CidrBlock"); text != "" {
		if s.IPv6CIDR, err = c.ipv6Block(v, text); err != nil {
			return nil, err
		}
	}
	s.ID = c.st.newID("subnet")
	c.st.subnets[s.ID] = s
	c.setTags(s.ID, specs["subnet"])
	return struct {
		Subnet subnetXML `xml:"subnet"`
	}{c.subnetXML(s)}, nil
}

func (c *call) subnetZone() (string, error) {
	name, id := c.Str("AvailabilityZone"), c.Str("AvailabilityZoneId")
	for _, z := range c.opt.Zones {
		if z.Name == name || (name == "" && (id == "" || z.ID == id)) {
			return z.Name, nil
		}
	}
	var names []string
	for _, z := range c.opt.Zones {
		names = append(names, z.Name)
	}
	return "", badValue("availabilityZone", name+id, "Subnets can currently only be created in the following availability zones: "+commaList(names)+".")
}

func (c *call) subnetBlock(v VPC) (string, error) {
	text, err := need(c, "CidrBlock")
	if err != nil {
		return "", err
	}
	p, ok := canonical(text, false)
	if !ok {
		return "", badValue("cidrBlock", text, "This is not a valid CIDR block.")
	}
	if p.Bits() < 16 || p.Bits() > 28 || !within(p, v.cidrs()) {
		return "", query.Errorf("InvalidSubnet.Range", "The CIDR '%s' is invalid.", text)
	}
	for _, o := range c.st.subnets {
		if o.VPC == v.ID && overlapsAny(p, []string{o.CIDR}) {
			return "", query.Errorf("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", text)
		}
	}
	return p.String(), nil
}

func within(p netip.Prefix, blocks []string) bool {
	return slices.ContainsFunc(blocks, func(text string) bool {
		o, err := netip.ParsePrefix(text)
		return err == nil && o.Bits() <= p.Bits() && o.Contains(p.Addr())
	})
}

func subnetUsers(c *call) []string { return c.opt.Users.SubnetUsers(c.Str("SubnetId")) }

func deleteSubnet(c *call) (any, error) {
	s, err := required(c, c.st.subnets, kindSubnet(), "SubnetId")
	if err != nil {
		return nil, err
	}
	if len(c.users) > 0 || len(c.st.usedIPs(s.ID)) > 0 {
		return nil, query.Errorf("DependencyViolation", "The subnet '%s' has dependencies and cannot be deleted.", s.ID)
	}
	for _, t := range c.st.tables {
		kept := slices.DeleteFunc(slices.Clone(t.Associations), func(a Association) bool { return a.Subnet == s.ID })
		t.Associations = kept
		c.st.tables[t.ID] = t
	}
	delete(c.st.subnets, s.ID)
	c.st.drop(s.ID)
	return nil, nil
}

func modifySubnetAttribute(c *call) (any, error) {
	s, err := required(c, c.st.subnets, kindSubnet(), "SubnetId")
	if err != nil {
		return nil, err
	}
	for name, to := range map[string]*bool{
		"MapPublicIpOnLaunch.Value": &s.PublicIPOnLaunch, "AssignIpv6AddressOnCreation.Value": &s.IPv6OnLaunch, "EnableDns64.Value": &s.DNS64,
		"EnableResourceNameDnsARecordOnLaunch.Value": &s.Names.A, "EnableResourceNameDnsAAAARecordOnLaunch.Value": &s.Names.AAAA,
	} {
		if on, ok, err := c.Bool(name); err != nil {
			return nil, err
		} else if ok {
			*to = on
		}
	}
	if kind := c.Str("PrivateDnsHostnameTypeOnLaunch"); kind != "" {
		if kind != "ip-name" && kind != "resource-name" {
			return nil, badValue("privateDnsHostnameTypeOnLaunch", kind, "Expected ip-name or resource-name.")
		}
		s.Names.Type = kind
	}
	c.st.subnets[s.ID] = s
	return nil, nil
}
