package ec2

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

func createNetworkInterface(c *call) (any, error) {
	s, err := required(c, c.st.subnets, kindSubnet(), "SubnetId")
	if err != nil {
		return nil, err
	}
	groups, err := c.interfaceGroups(s.VPC, c.Strs("SecurityGroupId"))
	if err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "network-interface")
	if err != nil {
		return nil, err
	}
	if kind := c.Str("InterfaceType"); kind != "" && kind != "interface" && kind != "efa" {
		return nil, badValue("interfaceType", kind, "Expected interface or efa.")
	}
	ips, err := c.wantedIPs(s, c.Params)
	if err != nil {
		return nil, err
	}
	six, err := c.wantedIPv6(s, c.Params)
	if err != nil {
		return nil, err
	}
	i := newInterface(c.st, s, groups, ips...)
	i.IPv6 = six
	i.Description = c.Str("Description")
	c.st.interfaces[i.ID] = i
	c.setTags(i.ID, specs["network-interface"])
	return struct {
		Interface interfaceXML `xml:"networkInterface"`
	}{c.interfaceXML(i)}, nil
}

func deleteNetworkInterface(c *call) (any, error) {
	i, err := required(c, c.st.interfaces, kindInterface(), "NetworkInterfaceId")
	if err != nil {
		return nil, err
	}
	if i.status() == "in-use" {
		return nil, query.Errorf("InvalidParameterValue", "Network interface '%s' is currently in use.", i.ID)
	}
	c.dropInterface(i)
	return nil, nil
}

func (c *call) dropInterface(i Interface) {
	for _, d := range c.st.addresses {
		if d.Interface == i.ID {
			c.st.addresses[d.ID] = Address{ID: d.ID, PublicIP: d.PublicIP}
		}
	}
	delete(c.st.interfaces, i.ID)
	c.st.drop(i.ID)
}

func modifyNetworkInterfaceAttribute(c *call) (any, error) {
	i, err := c.ownInterface()
	if err != nil {
		return nil, err
	}
	if ids := c.Strs("SecurityGroupId"); len(ids) > 0 {
		if i.Groups, err = c.interfaceGroups(i.VPC, ids); err != nil {
			return nil, err
		}
	}
	if c.Has("Description") {
		i.Description = c.Str("Description.Value")
	}
	if on, ok, err := c.Bool("SourceDestCheck.Value"); err != nil {
		return nil, err
	} else if ok {
		i.SourceDestCheckOff = !on
	}
	if on, ok, err := c.Bool("Attachment.DeleteOnTermination"); err != nil {
		return nil, err
	} else if ok {
		if i.Instance == "" || c.Str("Attachment.AttachmentId") != i.attachment() {
			return nil, noAttachment(c.Str("Attachment.AttachmentId"))
		}
		i.DeleteOnTermination = on
	}
	c.st.interfaces[i.ID] = i
	return nil, nil
}

// wantedIPs reads the private IPv4 addresses that a new interface shall have, the
// primary one first, and claims them.
func (c *call) wantedIPs(s Subnet, p query.Params) ([]string, error) {
	count, counted, err := p.Int("SecondaryPrivateIpAddressCount")
	if err != nil {
		return nil, err
	}
	first := p.Str("PrivateIpAddress")
	var more []string
	for _, e := range p.List("PrivateIpAddresses") {
		primary, _, err := e.Bool("Primary")
		switch ip := e.Str("PrivateIpAddress"); {
		case err != nil:
			return nil, err
		case primary && first != "" && first != ip:
			return nil, query.Errorf("InvalidParameterCombination", "Only one primary private IP address can be specified.")
		case primary:
			first = ip
		default:
			more = append(more, ip)
		}
	}
	if counted && len(more) > 0 {
		return nil, query.Errorf("InvalidParameterCombination", "The parameter secondaryPrivateIpAddressCount cannot be used with secondary privateIpAddresses")
	}
	return c.take(s, first, more, count)
}

// take claims a primary address (any free one when it is empty), the given
// secondary ones and as many free ones as are counted.
func (c *call) take(s Subnet, first string, more []string, count int) ([]string, error) {
	alloc := c.st.allocator(s)
	var out []string
	for n, ip := range slices.Concat([]string{first}, more, make([]string, count)) {
		var err error
		if ip == "" && (n == 0 || n > len(more)) {
			ip, err = alloc.take()
		} else {
			err = alloc.claim(ip)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, ip)
	}
	if len(out) > maxInterfaceIPs {
		return nil, query.Errorf("PrivateIpAddressLimitExceeded", "Number of private addresses will exceed limit.")
	}
	return out, nil
}

// wantedIPv6 reads the IPv6 addresses that an interface shall get, and claims them.
func (c *call) wantedIPv6(s Subnet, p query.Params) ([]string, error) {
	count, counted, err := p.Int("Ipv6AddressCount")
	if err != nil {
		return nil, err
	}
	var given []string
	for _, e := range p.List("Ipv6Addresses") {
		ip := e.Str("Ipv6Address")
		if ip == "" {
			ip = e.Value()
		}
		given = append(given, ip)
	}
	if !counted && len(given) == 0 {
		return nil, nil
	}
	block, err := netip.ParsePrefix(s.IPv6CIDR)
	if err != nil {
		return nil, query.Errorf("InvalidParameterValue", "Subnet %s has no IPv6 CIDR block.", s.ID)
	}
	used := c.st.usedIPv6(s.ID)
	for n, ip := range given {
		addr, err := netip.ParseAddr(ip)
		if err != nil || !block.Contains(addr) {
			return nil, query.Errorf("InvalidParameterValue", "Address %s does not fall within the subnet's address range", ip)
		}
		if given[n] = addr.String(); used[given[n]] {
			return nil, query.Errorf("InvalidIPAddress.InUse", "Address %s is in use.", ip)
		}
		used[given[n]] = true
	}
	next := block.Addr()
	for range reservedLow {
		next = next.Next()
	}
	for ; count > 0; next = next.Next() {
		if ip := next.String(); !used[ip] {
			given = append(given, ip)
			count--
		}
	}
	return given, nil
}

func (s *state) usedIPv6(subnet string) map[string]bool {
	used := map[string]bool{}
	for _, i := range s.interfaces {
		if i.Subnet == subnet {
			for _, ip := range i.IPv6 {
				used[ip] = true
			}
		}
	}
	return used
}

type sixXML struct {
	Interface string               `xml:"networkInterfaceId"`
	Added     *query.Items[string] `xml:"assignedIpv6Addresses"`
	Removed   *query.Items[string] `xml:"unassignedIpv6Addresses"`
}

func assignIPv6Addresses(c *call) (any, error) {
	i, err := c.ownInterface()
	if err != nil {
		return nil, err
	}
	if !c.Has("Ipv6AddressCount") && !c.Has("Ipv6Addresses") {
		return nil, query.Errorf("MissingParameter", "The request must contain the parameter ipv6Addresses or ipv6AddressCount")
	}
	added, err := c.wantedIPv6(c.st.subnets[i.Subnet], c.Params)
	if err != nil {
		return nil, err
	}
	i.IPv6 = slices.Concat(i.IPv6, added)
	c.st.interfaces[i.ID] = i
	return sixXML{Interface: i.ID, Added: &query.Items[string]{Item: added}}, nil
}

func unassignIPv6Addresses(c *call) (any, error) {
	i, err := c.ownInterface()
	if err != nil {
		return nil, err
	}
	gone := c.Strs("Ipv6Addresses")
	for _, ip := range gone {
		if !slices.Contains(i.IPv6, ip) {
			return nil, query.Errorf("InvalidParameterValue", "Some of %v addresses are not assigned to interface %s", gone, i.ID)
		}
	}
	i.IPv6 = slices.DeleteFunc(slices.Clone(i.IPv6), func(ip string) bool { return slices.Contains(gone, ip) })
	c.st.interfaces[i.ID] = i
	return sixXML{Interface: i.ID, Removed: &query.Items[string]{Item: gone}}, nil
}
