package ec2

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// timeFormat is EC2's: milliseconds and a Z.
const timeFormat = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(timeFormat) }

type groupRefXML struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type privateIPXML struct {
	IP      string       `xml:"privateIpAddress"`
	DNS     string       `xml:"privateDnsName,omitempty"`
	Primary bool         `xml:"primary"`
	Public  *publicIPXML `xml:"association"`
}

type publicIPXML struct {
	IP          string `xml:"publicIp"`
	DNS         string `xml:"publicDnsName"`
	Owner       string `xml:"ipOwnerId"`
	Allocation  string `xml:"allocationId,omitempty"`
	Association string `xml:"associationId,omitempty"`
}

type ipv6XML struct {
	IP      string `xml:"ipv6Address"`
	Primary bool   `xml:"isPrimaryIpv6"`
}

type interfaceAttachmentXML struct {
	ID       string `xml:"attachmentId"`
	Instance string `xml:"instanceId,omitempty"`
	Owner    string `xml:"instanceOwnerId,omitempty"`
	Index    int    `xml:"deviceIndex"`
	Card     int    `xml:"networkCardIndex"`
	Status   string `xml:"status"`
	Time     string `xml:"attachTime"`
	Delete   bool   `xml:"deleteOnTermination"`
}

type interfaceXML struct {
	ID          string                    `xml:"networkInterfaceId"`
	Subnet      string                    `xml:"subnetId"`
	VPC         string                    `xml:"vpcId"`
	Zone        string                    `xml:"availabilityZone,omitempty"`
	Description string                    `xml:"description"`
	Owner       string                    `xml:"ownerId"`
	Requester   string                    `xml:"requesterId,omitempty"`
	Managed     *bool                     `xml:"requesterManaged"`
	Status      string                    `xml:"status"`
	MAC         string                    `xml:"macAddress"`
	IP          string                    `xml:"privateIpAddress"`
	DNS         string                    `xml:"privateDnsName,omitempty"`
	SourceDest  bool                      `xml:"sourceDestCheck"`
	Groups      query.Items[groupRefXML]  `xml:"groupSet"`
	Attachment  *interfaceAttachmentXML   `xml:"attachment"`
	Public      *publicIPXML              `xml:"association"`
	IPs         query.Items[privateIPXML] `xml:"privateIpAddressesSet"`
	IPv6        query.Items[ipv6XML]      `xml:"ipv6AddressesSet"`
	FirstIPv6   string                    `xml:"ipv6Address,omitempty"`
	Type        string                    `xml:"interfaceType"`
	Tags        *query.Items[tagXML]      `xml:"tagSet"`
}

// withinInstance leaves out what EC2 says in DescribeNetworkInterfaces only.
func (x interfaceXML) withinInstance() interfaceXML {
	x.Zone, x.Requester, x.FirstIPv6, x.Managed, x.Tags = "", "", "", nil, nil
	if x.Attachment != nil {
		x.Attachment.Instance, x.Attachment.Owner = "", ""
	}
	for _, p := range x.IPs.Item {
		if p.Public != nil {
			p.Public.Allocation, p.Public.Association = "", ""
		}
	}
	return x
}

func (i Interface) primaryIP() string {
	if len(i.IPs) == 0 {
		return ""
	}
	return i.IPs[0]
}

// PrivateDNS is the private name that goes with an address; the first region
// has a suffix of its own.
func PrivateDNS(region, ip string) string {
	if ip == "" {
		return ""
	}
	suffix := region + ".compute.internal"
	if region == "us-east-1" {
		suffix = "ec2.internal"
	}
	return "ip-" + strings.ReplaceAll(ip, ".", "-") + "." + suffix
}

func (c *call) privateDNS(ip string) string { return PrivateDNS(c.opt.Region, ip) }

func (c *call) publicDNS(ip string) string {
	suffix := c.opt.Region + ".compute"
	if c.opt.Region == "us-east-1" {
		suffix = "compute-1"
	}
	return "ec2-" + strings.ReplaceAll(ip, ".", "-") + "." + suffix + ".amazonaws.com"
}

func (c *call) groupRefs(ids []string) query.Items[groupRefXML] {
	var out query.Items[groupRefXML]
	for _, id := range ids {
		out.Item = append(out.Item, groupRefXML{id, c.st.groups[id].Name})
	}
	return out
}

func (c *call) publicIP(d Address) *publicIPXML {
	return &publicIPXML{IP: d.PublicIP, DNS: c.publicDNS(d.PublicIP), Owner: c.opt.Account, Allocation: d.ID, Association: d.Association}
}

// addressOn finds the elastic address on a private address of an interface.
func (s *state) addressOn(i Interface, ip string) (Address, bool) {
	for _, d := range s.addresses {
		if d.Interface == i.ID && d.PrivateIP == ip {
			return d, true
		}
	}
	return Address{}, false
}

// publicOn is the public address on the nth private one: an elastic address, or
// on the primary one the address that Amazon lent.
func (c *call) publicOn(i Interface, n int) *publicIPXML {
	if d, ok := c.st.addressOn(i, i.IPs[n]); ok {
		return c.publicIP(d)
	}
	if n == 0 && i.PublicIP != "" {
		return &publicIPXML{IP: i.PublicIP, DNS: c.publicDNS(i.PublicIP), Owner: "amazon"}
	}
	return nil
}

func (c *call) interfaceXML(i Interface) interfaceXML {
	x := interfaceXML{
		ID: i.ID, Subnet: i.Subnet, VPC: i.VPC, Zone: i.Zone, Description: i.Description, Owner: c.opt.Account,
		Requester: i.requester(), Managed: new(bool), Status: i.status(), MAC: i.MAC, IP: i.primaryIP(), DNS: c.privateDNS(i.primaryIP()),
		SourceDest: !i.SourceDestCheckOff, Groups: c.groupRefs(i.Groups), Type: i.kind(),
	}
	if x.Tags = c.tagsXML(i.ID); x.Tags == nil {
		x.Tags = &tagSet{}
	}
	if i.Instance != "" {
		x.Attachment = &interfaceAttachmentXML{
			ID: i.attachment(), Instance: i.Instance, Owner: c.opt.Account, Index: i.DeviceIndex, Status: "attached",
			Time: stamp(i.Attached), Delete: i.DeleteOnTermination,
		}
	}
	if i.managed() {
		*x.Managed, x.SourceDest = true, false
		x.Attachment = &interfaceAttachmentXML{ID: i.attachment(), Owner: i.requester(), Index: 1, Status: "attached", Time: stamp(i.Attached)}
	}
	for n, ip := range i.IPs {
		p := privateIPXML{IP: ip, DNS: c.privateDNS(ip), Primary: n == 0}
		if p.Public = c.publicOn(i, n); n == 0 {
			x.Public = p.Public
		}
		x.IPs.Item = append(x.IPs.Item, p)
	}
	for _, ip := range i.IPv6 {
		x.IPv6.Item = append(x.IPv6.Item, ipv6XML{IP: ip})
	}
	if len(i.IPv6) > 0 {
		x.FirstIPv6 = i.IPv6[0]
	}
	return x
}

func interfaceProperties() properties[Interface] {
	attached := func(of func(*call, Interface) string) property[Interface] {
		return func(c *call, i Interface) []string {
			if i.Instance == "" {
				return nil
			}
			return one(of(c, i))
		}
	}
	address := func(of func(Address) string) property[Interface] {
		return func(c *call, i Interface) []string {
			var out []string
			for _, ip := range i.IPs {
				if d, ok := c.st.addressOn(i, ip); ok {
					out = append(out, of(d))
				}
			}
			return out
		}
	}
	public := func(c *call, i Interface) []string {
		var out []string
		for n := range i.IPs {
			if p := c.publicOn(i, n); p != nil {
				out = append(out, p.IP)
			}
		}
		return out
	}
	return properties[Interface]{
		"addresses.private-ip-address":     func(_ *call, i Interface) []string { return i.IPs },
		"addresses.association.public-ip":  public,
		"association.public-ip":            public,
		"association.allocation-id":        address(func(d Address) string { return d.ID }),
		"association.association-id":       address(func(d Address) string { return d.Association }),
		"attachment.attachment-id":         attached(func(_ *call, i Interface) string { return i.attachment() }),
		"attachment.instance-id":           attached(func(_ *call, i Interface) string { return i.Instance }),
		"attachment.instance-owner-id":     attached(func(c *call, _ Interface) string { return c.opt.Account }),
		"attachment.device-index":          attached(func(_ *call, i Interface) string { return strconv.Itoa(i.DeviceIndex) }),
		"attachment.delete-on-termination": attached(func(_ *call, i Interface) string { return strconv.FormatBool(i.DeleteOnTermination) }),
		"attachment.status":                attached(func(*call, Interface) string { return "attached" }),
		"availability-zone":                func(_ *call, i Interface) []string { return one(i.Zone) },
		"availability-zone-id":             func(c *call, i Interface) []string { return one(c.zoneID(i.Zone)) },
		"description":                      func(_ *call, i Interface) []string { return one(i.Description) },
		"group-id":                         func(_ *call, i Interface) []string { return i.Groups },
		"group-name":                       groupNames,
		"ipv6-addresses.ipv6-address":      func(_ *call, i Interface) []string { return i.IPv6 },
		"interface-type":                   func(_ *call, i Interface) []string { return one(i.kind()) },
		"mac-address":                      func(_ *call, i Interface) []string { return one(i.MAC) },
		"network-interface-id":             func(_ *call, i Interface) []string { return one(i.ID) },
		"owner-id":                         func(c *call, _ Interface) []string { return one(c.opt.Account) },
		"private-dns-name":                 func(c *call, i Interface) []string { return one(c.privateDNS(i.primaryIP())) },
		"private-ip-address":               func(_ *call, i Interface) []string { return i.IPs },
		"requester-managed":                func(_ *call, i Interface) []string { return boolean(i.managed()) },
		"requester-id":                     func(_ *call, i Interface) []string { return one(i.requester()) },
		"source-dest-check":                func(_ *call, i Interface) []string { return boolean(!i.SourceDestCheckOff) },
		"status":                           func(_ *call, i Interface) []string { return one(i.status()) },
		"subnet-id":                        func(_ *call, i Interface) []string { return one(i.Subnet) },
		"vpc-id":                           func(_ *call, i Interface) []string { return one(i.VPC) },
	}.unused("addresses.association.owner-id", "addresses.primary", "association.ip-owner-id", "association.public-dns-name",
		"attachment.attach-time", "operator.managed", "operator.principal")
}

func groupNames(c *call, i Interface) []string {
	var out []string
	for _, id := range i.Groups {
		out = append(out, c.st.groups[id].Name)
	}
	return out
}

func describeNetworkInterfaces(c *call) (any, error) {
	page, next, err := describe(c, listing[Interface]{
		kind: kindInterface(), param: "NetworkInterfaceId", id: func(i Interface) string { return i.ID },
		props: interfaceProperties(), objects: sorted(c.st.interfaces), exclusive: "networkInterfaceIdSet",
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Interfaces query.Items[interfaceXML] `xml:"networkInterfaceSet"`
		Next       string                    `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, i := range page {
		out.Interfaces.Item = append(out.Interfaces.Item, c.interfaceXML(i))
	}
	return out, nil
}

// interfaceGroups reads a list of group ids for an interface in a VPC; none
// means the default group.
func (c *call) interfaceGroups(vpc string, ids []string) ([]string, error) {
	if len(ids) == 0 {
		g, _ := c.st.groupNamed(vpc, defaultGroup)
		return []string{g.ID}, nil
	}
	var out []string
	for _, id := range ids {
		g, err := c.groupByID(id)
		if err != nil {
			return nil, err
		}
		if g.VPC != vpc {
			return nil, query.Errorf("InvalidParameter", "Security group %s and subnet belong to different networks.", id)
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if limit := c.opt.Limits.GroupsPerInterface; limit >= 0 && len(out) > limit {
		return nil, query.Errorf("SecurityGroupsPerInterfaceLimitExceeded", "The maximum number of security groups per interface has been reached.")
	}
	return out, nil
}

func newInterface(st *state, s Subnet, groups []string, ips ...string) Interface {
	i := Interface{ID: st.newID("eni"), VPC: s.VPC, Subnet: s.ID, Zone: s.Zone, Groups: groups, IPs: ips}
	i.MAC = MAC(i.ID)
	return i
}

// MAC derives an address from an interface's id.
func MAC(id string) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("0a:%02x:%02x:%02x:%02x:%02x", sum[0], sum[1], sum[2], sum[3], sum[4])
}
