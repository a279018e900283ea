package ec2

import (
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type addressXML struct {
	ID          string  `xml:"allocationId"`
	PublicIP    string  `xml:"publicIp"`
	Domain      string  `xml:"domain"`
	Border      string  `xml:"networkBorderGroup"`
	Pool        string  `xml:"publicIpv4Pool"`
	Association string  `xml:"associationId,omitempty"`
	Instance    string  `xml:"instanceId"`
	Interface   string  `xml:"networkInterfaceId,omitempty"`
	Owner       string  `xml:"networkInterfaceOwnerId,omitempty"`
	PrivateIP   string  `xml:"privateIpAddress,omitempty"`
	Tags        *tagSet `xml:"tagSet"`
}

func addressProperties() properties[Address] {
	return properties[Address]{
		"allocation-id":        func(_ *call, d Address) []string { return one(d.ID) },
		"association-id":       func(_ *call, d Address) []string { return one(d.Association) },
		"domain":               func(*call, Address) []string { return one("vpc") },
		"instance-id":          func(c *call, d Address) []string { return one(c.st.interfaces[d.Interface].Instance) },
		"network-border-group": func(c *call, _ Address) []string { return one(c.opt.Region) },
		"network-interface-id": func(_ *call, d Address) []string { return one(d.Interface) },
		"private-ip-address":   func(_ *call, d Address) []string { return one(d.PrivateIP) },
		"public-ip":            func(_ *call, d Address) []string { return one(d.PublicIP) },
	}.unused("network-interface-owner-id")
}

// everyAddressUser asks for the users of all addresses, in pairs of allocation
// id and user, for DescribeAddresses shows which ones a load balancer holds.
func everyAddressUser(c *call) []string {
	var out []string
	for id := range c.st.addresses {
		for _, user := range c.opt.Users.AddressUsers(id) {
			out = append(out, id, user)
		}
	}
	return out
}

func describeAddresses(c *call) (any, error) {
	held := map[string]string{}
	for pair := range slices.Chunk(c.users, 2) {
		held[pair[0]] = pair[1]
	}
	objects := sorted(c.st.addresses)
	if ips := c.Strs("PublicIp"); len(ips) > 0 {
		for _, ip := range ips {
			if _, err := c.addressByIP(ip); err != nil {
				return nil, err
			}
		}
		objects = slices.DeleteFunc(objects, func(d Address) bool { return !slices.Contains(ips, d.PublicIP) })
	}
	objects, err := byID(listing[Address]{kind: kindAddress(), id: addressID, objects: objects}, c.Strs("AllocationId"))
	if err != nil {
		return nil, err
	}
	if objects, err = selectBy(c, addressProperties(), addressID, objects); err != nil {
		return nil, err
	}
	var out struct {
		Addresses query.Items[addressXML] `xml:"addressesSet"`
	}
	for _, d := range objects {
		x := addressXML{
			ID: d.ID, PublicIP: d.PublicIP, Domain: "vpc", Border: c.opt.Region, Pool: "amazon", Association: d.Association,
			Instance: c.st.interfaces[d.Interface].Instance, Interface: d.Interface, PrivateIP: d.PrivateIP, Tags: c.tagsXML(d.ID),
		}
		if d.Association != "" {
			x.Owner = c.opt.Account
		}
		if user, ok := held[d.ID]; ok {
			x.Association, x.Interface, x.Owner = ID("eipassoc", user+d.ID), ID("eni", user+d.ID), "amazon-elb"
		}
		out.Addresses.Item = append(out.Addresses.Item, x)
	}
	return out, nil
}

func addressID(d Address) string { return d.ID }

func (c *call) addressByIP(ip string) (Address, error) {
	for _, d := range c.st.addresses {
		if d.PublicIP == ip {
			return d, nil
		}
	}
	return Address{}, query.Errorf("InvalidAddress.NotFound", "Address '%s' not found.", ip)
}

// targetAddress reads AllocationId or PublicIp.
func (c *call) targetAddress() (Address, error) {
	if ip := c.Str("PublicIp"); ip != "" && !c.Has("AllocationId") {
		return c.addressByIP(ip)
	}
	return required(c, c.st.addresses, kindAddress(), "AllocationId")
}

func allocateAddress(c *call) (any, error) {
	specs, err := tagSpecs(c, "elastic-ip")
	if err != nil {
		return nil, err
	}
	if domain := c.Str("Domain"); domain != "" && domain != "vpc" {
		return nil, query.Errorf("InvalidParameterValue", "Invalid value '%s' for domain.", domain)
	}
	if limit := c.opt.Limits.Addresses; limit >= 0 && len(c.st.addresses) >= limit {
		return nil, query.Errorf("AddressLimitExceeded", "The maximum number of addresses has been reached.")
	}
	d := Address{ID: c.st.newID("eipalloc"), PublicIP: c.freePublicIP()}
	c.st.addresses[d.ID] = d
	c.setTags(d.ID, specs["elastic-ip"])
	return struct {
		IP     string `xml:"publicIp"`
		ID     string `xml:"allocationId"`
		Domain string `xml:"domain"`
		Pool   string `xml:"publicIpv4Pool"`
		Border string `xml:"networkBorderGroup"`
	}{d.PublicIP, d.ID, "vpc", "amazon", c.opt.Region}, nil
}

// freePublicIP takes from the range that is set aside for benchmarks, so that
// no simulated address is anybody's (RFC 2544).
func (c *call) freePublicIP() string {
	for n := 257; ; n++ {
		ip := fmt.Sprintf("198.18.%d.%d", n>>8&255, n&255)
		if _, err := c.addressByIP(ip); err != nil {
			return ip
		}
	}
}

func addressUsers(c *call) []string {
	d, err := c.targetAddress()
	if err != nil {
		return nil
	}
	return c.opt.Users.AddressUsers(d.ID)
}

func releaseAddress(c *call) (any, error) {
	d, err := c.targetAddress()
	if err != nil {
		return nil, err
	}
	if d.Association != "" || len(c.users) > 0 {
		return nil, query.Errorf("InvalidIPAddress.InUse", "Address %s is in use.", d.PublicIP)
	}
	delete(c.st.addresses, d.ID)
	c.st.drop(d.ID)
	return nil, nil
}

func associateAddress(c *call) (any, error) {
	d, err := c.targetAddress()
	if err != nil {
		return nil, err
	}
	eni, err := c.addressTarget()
	if err != nil {
		return nil, err
	}
	again, _, err := c.Bool("AllowReassociation")
	if err != nil {
		return nil, err
	}
	if (d.Association != "" && d.Interface != eni.ID && !again) || len(c.users) > 0 {
		return nil, query.Errorf("Resource.AlreadyAssociated", "resource %s is already associated with associate-id %s", d.ID, d.Association)
	}
	d.PrivateIP = c.Str("PrivateIpAddress")
	if d.PrivateIP == "" {
		d.PrivateIP = eni.primaryIP()
	}
	if !slices.Contains(eni.IPs, d.PrivateIP) {
		return nil, query.Errorf("InvalidParameterValue", "The private IP address %s is not assigned to %s", d.PrivateIP, eni.ID)
	}
	if d.PrivateIP == eni.primaryIP() && eni.PublicIP != "" {
		eni.PublicIP = ""
		c.st.interfaces[eni.ID] = eni
	}
	d.Interface, d.Association = eni.ID, c.st.newID("eipassoc")
	c.st.addresses[d.ID] = d
	return struct {
		Return bool   `xml:"return"`
		ID     string `xml:"associationId"`
	}{true, d.Association}, nil
}

func (c *call) addressTarget() (Interface, error) {
	if c.Has("NetworkInterfaceId") {
		return required(c, c.st.interfaces, kindInterface(), "NetworkInterfaceId")
	}
	i, err := required(c, c.st.instances, kindInstance(), "InstanceId")
	if err != nil {
		return Interface{}, err
	}
	enis := c.st.interfacesOf(i.ID)
	if len(enis) == 0 {
		return Interface{}, query.Errorf("InvalidInstanceID", "The instance '%s' is not in a valid state for this operation.", i.ID)
	}
	return enis[0], nil
}

func disassociateAddress(c *call) (any, error) {
	id := c.Str("AssociationId")
	for _, d := range c.st.addresses {
		if d.Association != "" && (d.Association == id || d.PublicIP == c.Str("PublicIp")) {
			c.st.addresses[d.ID] = Address{ID: d.ID, PublicIP: d.PublicIP}
			return nil, nil
		}
	}
	if id == "" && !c.Has("PublicIp") {
		return nil, missingParameter("AssociationId")
	}
	return nil, query.Errorf("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id)
}
