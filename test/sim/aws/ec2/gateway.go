package ec2

import "github.com/berth-lb/berth/test/sim/aws/query"

type attachmentXML struct {
	VPC   string `xml:"vpcId"`
	State string `xml:"state"`
}

type gatewayXML struct {
	ID          string                     `xml:"internetGatewayId"`
	Owner       string                     `xml:"ownerId"`
	Attachments query.Items[attachmentXML] `xml:"attachmentSet"`
	Tags        query.Items[tagXML]        `xml:"tagSet"`
}

func (c *call) gatewayXML(g Gateway) gatewayXML {
	x := gatewayXML{ID: g.ID, Owner: c.opt.Account}
	if g.VPC != "" {
		x.Attachments.Item = []attachmentXML{{g.VPC, "available"}}
	}
	if tags := c.tagsXML(g.ID); tags != nil {
		x.Tags = *tags
	}
	return x
}

func describeInternetGateways(c *call) (any, error) {
	page, next, err := describe(c, listing[Gateway]{
		kind: kindGateway(), param: "InternetGatewayId", id: func(g Gateway) string { return g.ID },
		props: properties[Gateway]{
			"attachment.vpc-id":   func(_ *call, g Gateway) []string { return one(g.VPC) },
			"internet-gateway-id": func(_ *call, g Gateway) []string { return one(g.ID) },
			"owner-id":            func(c *call, _ Gateway) []string { return one(c.opt.Account) },
			"attachment.state": func(_ *call, g Gateway) []string {
				if g.VPC == "" {
					return nil
				}
				return one("available")
			},
		},
		objects: sorted(c.st.gateways),
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Gateways query.Items[gatewayXML] `xml:"internetGatewaySet"`
		Next     string                  `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, g := range page {
		out.Gateways.Item = append(out.Gateways.Item, c.gatewayXML(g))
	}
	return out, nil
}

func createInternetGateway(c *call) (any, error) {
	specs, err := tagSpecs(c, "internet-gateway")
	if err != nil {
		return nil, err
	}
	g := Gateway{ID: c.st.newID("igw")}
	c.st.gateways[g.ID] = g
	c.setTags(g.ID, specs["internet-gateway"])
	return struct {
		Gateway gatewayXML `xml:"internetGateway"`
	}{c.gatewayXML(g)}, nil
}

func attachInternetGateway(c *call) (any, error) {
	g, err := required(c, c.st.gateways, kindGateway(), "InternetGatewayId")
	if err != nil {
		return nil, err
	}
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	if g.VPC != "" {
		return nil, query.Errorf("Resource.AlreadyAssociated", "resource %s is already attached to network %s", g.ID, g.VPC)
	}
	for _, o := range c.st.gateways {
		if o.VPC == v.ID {
			return nil, query.Errorf("InvalidParameterValue", "Network %s already has an internet gateway attached", v.ID)
		}
	}
	g.VPC = v.ID
	c.st.gateways[g.ID] = g
	return nil, nil
}

func detachInternetGateway(c *call) (any, error) {
	g, err := required(c, c.st.gateways, kindGateway(), "InternetGatewayId")
	if err != nil {
		return nil, err
	}
	vpc, err := need(c, "VpcId")
	if err != nil {
		return nil, err
	}
	if g.VPC != vpc {
		return nil, query.Errorf("Gateway.NotAttached", "resource %s is not attached to network %s", g.ID, vpc)
	}
	for _, d := range c.st.addresses {
		if i, ok := c.st.interfaces[d.Interface]; ok && i.VPC == vpc {
			return nil, query.Errorf("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", vpc)
		}
	}
	g.VPC = ""
	c.st.gateways[g.ID] = g
	return nil, nil
}

func deleteInternetGateway(c *call) (any, error) {
	g, err := required(c, c.st.gateways, kindGateway(), "InternetGatewayId")
	if err != nil {
		return nil, err
	}
	if g.VPC != "" {
		return nil, query.Errorf("DependencyViolation", "The internetGateway '%s' has dependencies and cannot be deleted.", g.ID)
	}
	delete(c.st.gateways, g.ID)
	c.st.drop(g.ID)
	return nil, nil
}
