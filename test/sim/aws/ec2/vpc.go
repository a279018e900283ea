package ec2

import (
	"encoding/hex"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

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
	ID      string                 `xml:"vpcId"`
	Owner   string                 `xml:"ownerId"`
	State   string                 `xml:"state"`
	CIDR    string                 `xml:"cidrBlock"`
	CIDRs   query.Items[cidrXML]   `xml:"cidrBlockAssociationSet"`
	CIDRs6  *query.Items[cidr6XML] `xml:"ipv6CidrBlockAssociationSet"`
	DHCP    string                 `xml:"dhcpOptionsId"`
	Tenancy string                 `xml:"instanceTenancy"`
	Default bool                   `xml:"isDefault"`
	Tags    *tagSet                `xml:"tagSet"`
}

func (v VPC) tenancy() string {
	if v.Dedicated {
		return "dedicated"
	}
	return "default"
}

func (v VPC) cidrs() []string { return append([]string{v.CIDR}, v.MoreCIDRs...) }

func association(prefix, owner, cidr string) string { return ID(prefix, owner+"/"+cidr) }

func (c *call) vpcXML(v VPC) vpcXML {
	x := vpcXML{
		ID: v.ID, Owner: c.opt.Account, State: "available", CIDR: v.CIDR, DHCP: ID("dopt", "default"),
		Tenancy: v.tenancy(), Default: v.Default, Tags: c.tagsShown(v.ID),
	}
	for _, cidr := range v.cidrs() {
		x.CIDRs.Item = append(x.CIDRs.Item, cidrXML{association("vpc-cidr-assoc", v.ID, cidr), cidr, statusXML{"associated"}})
	}
	if v.IPv6CIDR != "" {
		x.CIDRs6 = &query.Items[cidr6XML]{Item: []cidr6XML{{
			association("vpc-cidr-assoc", v.ID, v.IPv6CIDR), v.IPv6CIDR, statusXML{"associated"}, c.opt.Region, "Amazon",
		}}}
	}
	return x
}

func vpcProperties() properties[VPC] {
	associated := func(_ *call, _ VPC) []string { return one("associated") }
	six := func(of func(VPC) string) property[VPC] {
		return func(_ *call, v VPC) []string {
			if v.IPv6CIDR == "" {
				return nil
			}
			return one(of(v))
		}
	}
	return properties[VPC]{
		"ipv6-cidr-block-association.association-id":  six(func(v VPC) string { return association("vpc-cidr-assoc", v.ID, v.IPv6CIDR) }),
		"ipv6-cidr-block-association.ipv6-cidr-block": six(func(v VPC) string { return v.IPv6CIDR }),
		"ipv6-cidr-block-association.ipv6-pool":       six(func(VPC) string { return "Amazon" }),
		"ipv6-cidr-block-association.state":           six(func(VPC) string { return "associated" }),
		"cidr":                                        func(_ *call, v VPC) []string { return one(v.CIDR) },
		"cidr-block":                                  func(_ *call, v VPC) []string { return one(v.CIDR) },
		"cidrBlock":                                   func(_ *call, v VPC) []string { return one(v.CIDR) },
		"cidr-block-association.cidr-block":           func(_ *call, v VPC) []string { return v.cidrs() },
		"cidr-block-association.state":                associated,
		"dhcp-options-id":                             func(*call, VPC) []string { return one(ID("dopt", "default")) },
		"is-default":                                  func(_ *call, v VPC) []string { return boolean(v.Default) },
		"isDefault":                                   func(_ *call, v VPC) []string { return boolean(v.Default) },
		"owner-id":                                    func(c *call, _ VPC) []string { return one(c.opt.Account) },
		"state":                                       func(*call, VPC) []string { return one("available") },
		"vpc-id":                                      func(_ *call, v VPC) []string { return one(v.ID) },
		"cidr-block-association.association-id": func(_ *call, v VPC) []string {
			var out []string
			for _, cidr := range v.cidrs() {
				out = append(out, association("vpc-cidr-assoc", v.ID, cidr))
			}
			return out
		},
	}
}

func describeVpcs(c *call) (any, error) {
	page, next, err := describe(c, listing[VPC]{
		kind: kindVPC(), param: "VpcId", id: func(v VPC) string { return v.ID },
		props: vpcProperties(), objects: sorted(c.st.vpcs),
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		VPCs query.Items[vpcXML] `xml:"vpcSet"`
		Next string              `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, v := range page {
		out.VPCs.Item = append(out.VPCs.Item, c.vpcXML(v))
	}
	return out, nil
}

func createVpc(c *call) (any, error) {
	text, err := need(c, "CidrBlock")
	if err != nil {
		return nil, err
	}
	p, ok := canonical(text, false)
	if !ok {
		return nil, badValue("cidrBlock", text, "This is not a valid CIDR block.")
	}
	if p.Bits() < 16 || p.Bits() > 28 {
		return nil, query.Errorf("InvalidVpc.Range", "The CIDR '%s' is invalid.", text)
	}
	specs, err := tagSpecs(c, "vpc")
	if err != nil {
		return nil, err
	}
	wants6, _, err := c.Bool("AmazonProvidedIpv6CidrBlock")
	if err != nil {
		return nil, err
	}
	tenancy := c.Str("InstanceTenancy")
	if tenancy != "" && tenancy != "default" && tenancy != "dedicated" {
		return nil, badValue("instanceTenancy", tenancy, "Expected default or dedicated.")
	}
	if limit := c.opt.Limits.VPCs; limit >= 0 && len(c.st.vpcs) >= limit {
		return nil, query.Errorf("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
	}
	v := c.newVPC(VPC{CIDR: p.String(), DNSSupport: true, Dedicated: tenancy == "dedicated"}, wants6)
	c.setTags(v.ID, specs["vpc"])
	return c.createdVPC(v), nil
}

type createdVPCXML struct {
	VPC vpcXML `xml:"vpc"`
}

// createdVPC is the answer of a creation, which says pending and shows the list
// of IPv6 blocks also when there is none.
// Source: localstack/localstack:tests/aws/services/ec2/test_ec2.snapshot.json, recorded from AWS.
func (c *call) createdVPC(v VPC) createdVPCXML {
	x := c.vpcXML(v)
	x.State = "pending"
	if x.CIDRs6 == nil {
		x.CIDRs6 = &query.Items[cidr6XML]{}
	}
	return createdVPCXML{x}
}

// newVPC makes a VPC with what comes along with it: the default security group
// and the main route table.
func (c *call) newVPC(v VPC, wants6 bool) VPC {
	v.ID = c.st.newID("vpc")
	if wants6 {
		v.IPv6CIDR = amazonIPv6(v.ID)
	}
	c.st.vpcs[v.ID] = v
	g := newGroup(c.st, c, v.ID, defaultGroup, "default VPC security group")
	g.Created = g.Created.Add(-c.opt.NewGroupDelay)
	g.Ingress = []Rule{{ID: c.st.newID("sgr"), Protocol: "-1", Group: g.ID}}
	c.st.groups[g.ID] = g
	t := RouteTable{ID: c.st.newID("rtb"), VPC: v.ID}
	t.Associations = []Association{{ID: c.st.newID("rtbassoc"), Main: true}}
	c.st.tables[t.ID] = t
	return v
}

// amazonIPv6 gives the /56 that Amazon would assign to a VPC.
func amazonIPv6(vpc string) string {
	raw, err := hex.DecodeString(vpc[len(vpc)-6:])
	if err != nil || len(raw) != 3 {
		raw = []byte{0, 0, 0}
	}
	addr := netip.AddrFrom16([16]byte{0x26, 0x00, 0x1f, 0x18, raw[0], raw[1], raw[2], 0})
	return netip.PrefixFrom(addr, 56).String()
}

func deleteVpc(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	if c.vpcInUse(v.ID) {
		return nil, query.Errorf("DependencyViolation", "The vpc '%s' has dependencies and cannot be deleted.", v.ID)
	}
	for _, g := range sorted(c.st.groups) {
		if g.VPC == v.ID {
			c.dropGroup(g)
		}
	}
	for _, t := range sorted(c.st.tables) {
		if t.VPC == v.ID {
			delete(c.st.tables, t.ID)
			c.st.drop(t.ID)
		}
	}
	delete(c.st.vpcs, v.ID)
	c.st.drop(v.ID)
	return nil, nil
}

func (c *call) vpcInUse(id string) bool {
	for _, s := range c.st.subnets {
		if s.VPC == id {
			return true
		}
	}
	for _, g := range c.st.gateways {
		if g.VPC == id {
			return true
		}
	}
	for _, g := range c.st.groups {
		if g.VPC == id && g.Name != defaultGroup {
			return true
		}
	}
	for _, t := range c.st.tables {
		if t.VPC == id && !t.main() {
			return true
		}
	}
	return false
}

type flagXML struct {
	Value bool `xml:"value"`
}

func describeVpcAttribute(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	out := struct {
		ID        string   `xml:"vpcId"`
		Hostnames *flagXML `xml:"enableDnsHostnames"`
		Support   *flagXML `xml:"enableDnsSupport"`
		Metrics   *flagXML `xml:"enableNetworkAddressUsageMetrics"`
	}{ID: v.ID}
	switch name := c.Str("Attribute"); name {
	case "enableDnsHostnames":
		out.Hostnames = &flagXML{v.DNSHostnames}
	case "enableDnsSupport":
		out.Support = &flagXML{v.DNSSupport}
	case "enableNetworkAddressUsageMetrics":
		out.Metrics = &flagXML{v.UsageMetrics}
	default:
		return nil, query.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid. Unknown attribute.", name)
	}
	return out, nil
}

// modifyVpcTenancy goes one way only: from dedicated to default.
func modifyVpcTenancy(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	tenancy, err := need(c, "InstanceTenancy")
	if err != nil {
		return nil, err
	}
	if tenancy != "default" {
		return nil, query.Errorf("UnsupportedTenancy", "The tenancy value %s is not supported.", tenancy)
	}
	v.Dedicated = false
	c.st.vpcs[v.ID] = v
	return nil, nil
}

func modifyVpcAttribute(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	for name, to := range map[string]*bool{
		"EnableDnsHostnames.Value": &v.DNSHostnames, "EnableDnsSupport.Value": &v.DNSSupport,
		"EnableNetworkAddressUsageMetrics.Value": &v.UsageMetrics,
	} {
		if on, ok, err := c.Bool(name); err != nil {
			return nil, err
		} else if ok {
			*to = on
		}
	}
	c.st.vpcs[v.ID] = v
	return nil, nil
}

// createDefaultVpc makes what a new account has: a VPC, a subnet per zone, and
// a way to the internet.
func createDefaultVpc(c *call) (any, error) {
	if _, ok := c.st.defaultVPC(); ok {
		return nil, query.Errorf("DefaultVpcAlreadyExists", "A Default VPC already exists for this account in this region.")
	}
	v := c.newVPC(VPC{CIDR: "172.31.0.0/16", Default: true, DNSSupport: true, DNSHostnames: true}, false)
	block := netip.MustParseAddr("172.31.0.0").As4()
	for i, z := range c.opt.Zones {
		if z.Type != "availability-zone" || i > 15 {
			continue
		}
		block[2] = byte(i << 4)
		s := Subnet{
			ID: c.st.newID("subnet"), VPC: v.ID, Zone: z.Name, CIDR: netip.PrefixFrom(netip.AddrFrom4(block), 20).String(),
			PublicIPOnLaunch: true, DefaultForZone: true,
		}
		c.st.subnets[s.ID] = s
	}
	g := Gateway{ID: c.st.newID("igw"), VPC: v.ID}
	c.st.gateways[g.ID] = g
	t := c.st.mainTable(v.ID)
	t.Routes = append(slices.Clone(t.Routes), Route{CIDR: "0.0.0.0/0", Gateway: g.ID, Origin: "CreateRoute"})
	c.st.tables[t.ID] = t
	return c.createdVPC(v), nil
}

func overlapsAny(p netip.Prefix, blocks []string) bool {
	return slices.ContainsFunc(blocks, func(text string) bool {
		o, err := netip.ParsePrefix(text)
		return err == nil && o.Overlaps(p)
	})
}
