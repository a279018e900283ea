package ec2

import "github.com/berth-lb/berth/test/sim/aws/query"

const (
	natAvailable = "available"
	natDeleted   = "deleted"
	// natKind is the type of the interface of a gateway.
	natKind = "nat_gateway"
)

type natAddressXML struct {
	Allocation  string `xml:"allocationId,omitempty"`
	Association string `xml:"associationId,omitempty"`
	Interface   string `xml:"networkInterfaceId"`
	PrivateIP   string `xml:"privateIp"`
	PublicIP    string `xml:"publicIp,omitempty"`
	Primary     bool   `xml:"isPrimary"`
	Status      string `xml:"status"`
}

type natXML struct {
	ID           string                     `xml:"natGatewayId"`
	Subnet       string                     `xml:"subnetId"`
	VPC          string                     `xml:"vpcId"`
	State        string                     `xml:"state"`
	Created      string                     `xml:"createTime"`
	Deleted      string                     `xml:"deleteTime,omitempty"`
	Connectivity string                     `xml:"connectivityType"`
	Addresses    query.Items[natAddressXML] `xml:"natGatewayAddressSet"`
	Tags         *tagSet                    `xml:"tagSet"`
}

func (n NATGateway) connectivity() string {
	if n.Allocation == "" {
		return "private"
	}
	return "public"
}

func (c *call) natXML(n NATGateway, state string) natXML {
	x := natXML{ID: n.ID, Subnet: n.Subnet, VPC: n.VPC, State: state, Created: stamp(n.Created), Connectivity: n.connectivity(), Tags: c.tagsXML(n.ID)}
	if !n.Deleted.IsZero() {
		x.Deleted = stamp(n.Deleted)
	}
	x.Addresses.Item = []natAddressXML{{
		Allocation: n.Allocation, Association: c.st.addresses[n.Allocation].Association, Interface: n.Interface,
		PrivateIP: n.PrivateIP, PublicIP: n.PublicIP, Primary: true, Status: "succeeded",
	}}
	return x
}

// createNatGateway makes the interface and takes the elastic address at once; the
// answer itself still says pending.
func createNatGateway(c *call) (any, error) {
	s, err := required(c, c.st.subnets, kindSubnet(), "SubnetId")
	if err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "natgateway")
	if err != nil {
		return nil, err
	}
	private := c.Str("ConnectivityType") == "private"
	var d Address
	switch {
	case private && c.Has("AllocationId"):
		return nil, query.Errorf("InvalidParameterCombination", "The parameter allocationId cannot be used with connectivityType private")
	case !private:
		if d, err = required(c, c.st.addresses, kindAddress(), "AllocationId"); err != nil {
			return nil, err
		}
		if d.Association != "" || len(c.users) > 0 {
			return nil, query.Errorf("Resource.AlreadyAssociated", "resource %s is already associated with associate-id %s", d.ID, d.Association)
		}
	}
	alloc := c.st.allocator(s)
	ip := c.Str("PrivateIpAddress")
	if ip == "" {
		ip, err = alloc.take()
	} else {
		err = alloc.claim(ip)
	}
	if err != nil {
		return nil, err
	}
	n := NATGateway{ID: c.st.newID("nat"), VPC: s.VPC, Subnet: s.ID, Allocation: d.ID, PublicIP: d.PublicIP, PrivateIP: ip, State: natAvailable, Created: c.Now}
	i := newInterface(c.st, s, nil, ip)
	i.Description, i.Owner, i.Kind, i.Attached = "Interface for NAT Gateway "+n.ID, n.ID, natKind, c.Now
	c.st.interfaces[i.ID] = i
	n.Interface = i.ID
	c.st.nats[n.ID] = n
	if d.ID != "" {
		d.Interface, d.PrivateIP, d.Association = i.ID, ip, c.st.newID("eipassoc")
		c.st.addresses[d.ID] = d
	}
	c.setTags(n.ID, specs["natgateway"])
	return struct {
		NAT natXML `xml:"natGateway"`
	}{c.natXML(n, "pending")}, nil
}

func describeNatGateways(c *call) (any, error) {
	page, next, err := describe(c, listing[NATGateway]{
		kind: kindNAT(), param: "NatGatewayId", id: func(n NATGateway) string { return n.ID },
		props: properties[NATGateway]{
			"nat-gateway-id": func(_ *call, n NATGateway) []string { return one(n.ID) },
			"state":          func(_ *call, n NATGateway) []string { return one(n.State) },
			"subnet-id":      func(_ *call, n NATGateway) []string { return one(n.Subnet) },
			"vpc-id":         func(_ *call, n NATGateway) []string { return one(n.VPC) },
		},
		objects: sorted(c.st.nats),
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		NATs query.Items[natXML] `xml:"natGatewaySet"`
		Next string              `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, n := range page {
		out.NATs.Item = append(out.NATs.Item, c.natXML(n, n.State))
	}
	return out, nil
}

// deleteNatGateway frees interface and address; the gateway itself is shown as deleted for a while.
func deleteNatGateway(c *call) (any, error) {
	n, err := required(c, c.st.nats, kindNAT(), "NatGatewayId")
	if err != nil {
		return nil, err
	}
	if n.State != natDeleted {
		if i, ok := c.st.interfaces[n.Interface]; ok {
			c.dropInterface(i)
		}
		n.State, n.Deleted = natDeleted, c.Now
		c.st.nats[n.ID] = n
	}
	return struct {
		ID string `xml:"natGatewayId"`
	}{n.ID}, nil
}
