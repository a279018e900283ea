package ec2

import (
	"slices"
)

type addressXML struct {
	ID          string   `xml:"allocationId"`
	PublicIP    string   `xml:"publicIp"`
	Domain      string   `xml:"domain"`
	Border      string   `xml:"networkBorderGroup"`
	Pool        string   `xml:"publicIpv4Pool"`
	Association string   `xml:"associationId,omitempty"`
	Interface   string   `xml:"networkInterfaceId,omitempty"`
	Owner       string   `xml:"networkInterfaceOwnerId,omitempty"`
	Tags        []tagXML `xml:"tagSet,omitempty"`
}

func addressProperties() properties[Address] {
	return properties[Address]{
		"allocation-id": func(_ *call, d Address) []string { return singleValue(d.ID) },
		"public-ip":     func(_ *call, d Address) []string { return singleValue(d.PublicIP) },
	}
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
	return describeAs(c, listing[Address]{
		kind: kindOf("eipalloc"), param: "AllocationId", id: func(d Address) string { return d.ID },
		props: addressProperties(), objects: sortedByID(c.st.addresses),
	}, "addressesSet", func(d Address) addressXML {
		x := addressXML{ID: d.ID, PublicIP: d.PublicIP, Domain: "vpc", Border: c.opt.Region, Pool: "amazon", Tags: c.tagsXML(d.ID)}
		if user, ok := held[d.ID]; ok {
			x.Association, x.Interface, x.Owner = ID("eipassoc", user+d.ID), ID("eni", user+d.ID), managedBy
		}
		return x
	})
}
