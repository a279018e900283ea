package ec2

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// timeFormat is EC2's: milliseconds and a Z.
const timeFormat = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeFormat) }

type groupRefXML struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type privateIPXML struct {
	IP      string `xml:"privateIpAddress"`
	DNS     string `xml:"privateDnsName,omitempty"`
	Primary bool   `xml:"primary"`
}

// ipv6XML is one of an interface's IPv6 addresses.
// Source: Amazon EC2 API reference, NetworkInterface and NetworkInterfaceIpv6Address.
type ipv6XML struct {
	IP string `xml:"ipv6Address"`
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
	ID          string                  `xml:"networkInterfaceId"`
	Subnet      string                  `xml:"subnetId"`
	VPC         string                  `xml:"vpcId"`
	Zone        string                  `xml:"availabilityZone,omitempty"`
	Description string                  `xml:"description"`
	Owner       string                  `xml:"ownerId"`
	Requester   string                  `xml:"requesterId,omitempty"`
	Managed     *bool                   `xml:"requesterManaged"`
	Status      string                  `xml:"status"`
	MAC         string                  `xml:"macAddress"`
	IP          string                  `xml:"privateIpAddress"`
	DNS         string                  `xml:"privateDnsName,omitempty"`
	Groups      []groupRefXML           `xml:"groupSet"`
	Attachment  *interfaceAttachmentXML `xml:"attachment"`
	IPs         []privateIPXML          `xml:"privateIpAddressesSet"`
	IPv6s       []ipv6XML               `xml:"ipv6AddressesSet"`
	Type        string                  `xml:"interfaceType"`
	Tags        []tagXML                `xml:"tagSet,omitempty"`
}

// withinInstance leaves out what EC2 says in DescribeNetworkInterfaces only.
func (x interfaceXML) withinInstance() interfaceXML {
	x.Zone, x.Requester, x.Managed, x.Tags = "", "", nil, nil
	if x.Attachment != nil {
		x.Attachment.Instance, x.Attachment.Owner = "", ""
	}
	return x
}

func (i Interface) primaryIP() string {
	if len(i.IPs) == 0 {
		return ""
	}
	return i.IPs[0]
}

// PrivateDNS returns the private name of an address; the first region has a suffix of its
// own.
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

func (c *call) groupRefs(ids []string) []groupRefXML {
	var out []groupRefXML
	for _, id := range ids {
		out = append(out, groupRefXML{id, c.st.groups[id].Name})
	}
	return out
}

func (c *call) interfaceXML(i Interface) interfaceXML {
	x := interfaceXML{
		ID: i.ID, Subnet: i.Subnet, VPC: i.VPC, Zone: i.Zone, Description: i.Description, Owner: c.opt.Account,
		Requester: i.requester(), Managed: new(bool), Status: i.status(), MAC: i.MAC, IP: i.primaryIP(), DNS: c.privateDNS(i.primaryIP()),
		Groups: c.groupRefs(i.Groups), Type: i.kind(), Tags: c.tagsShown(i.ID),
	}
	if i.Instance != "" {
		x.Attachment = &interfaceAttachmentXML{
			ID: i.attachment(), Instance: i.Instance, Owner: c.opt.Account, Index: i.DeviceIndex, Status: "attached",
			Time: formatTime(i.Attached), Delete: i.DeleteOnTermination,
		}
	}
	if i.managed() {
		*x.Managed = true
		x.Attachment = &interfaceAttachmentXML{ID: i.attachment(), Owner: i.requester(), Index: 1, Status: "attached", Time: formatTime(i.Attached)}
	}
	for _, ip := range i.IPv6s {
		x.IPv6s = append(x.IPv6s, ipv6XML{ip})
	}
	for n, ip := range i.IPs {
		x.IPs = append(x.IPs, privateIPXML{IP: ip, DNS: c.privateDNS(ip), Primary: n == 0})
	}
	return x
}

func interfaceProperties() properties[Interface] {
	return properties[Interface]{
		"addresses.private-ip-address": func(_ *call, i Interface) []string { return i.IPs },
		"attachment.instance-id":       func(_ *call, i Interface) []string { return singleValue(i.Instance) },
		"description":                  func(_ *call, i Interface) []string { return singleValue(i.Description) },
		"group-id":                     func(_ *call, i Interface) []string { return i.Groups },
		"network-interface-id":         func(_ *call, i Interface) []string { return singleValue(i.ID) },
		"ipv6-addresses.ipv6-address":  func(_ *call, i Interface) []string { return i.IPv6s },
		"private-ip-address":           func(_ *call, i Interface) []string { return i.IPs },
		"requester-id":                 func(_ *call, i Interface) []string { return singleValue(i.requester()) },
		"status":                       func(_ *call, i Interface) []string { return singleValue(i.status()) },
		"subnet-id":                    func(_ *call, i Interface) []string { return singleValue(i.Subnet) },
		"vpc-id":                       func(_ *call, i Interface) []string { return singleValue(i.VPC) },
	}
}

func describeNetworkInterfaces(c *call) (any, error) {
	return describeAs(c, listing[Interface]{
		kind: kindOf("eni"), param: "NetworkInterfaceId", id: func(i Interface) string { return i.ID },
		props: interfaceProperties(), objects: sortedByID(c.st.interfaces), exclusive: "networkInterfaceIdSet",
	}, "networkInterfaceSet", c.interfaceXML)
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
