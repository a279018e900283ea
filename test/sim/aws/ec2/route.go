package ec2

import (
	"strconv"
)

// routes gives the local routes, which follow the VPC's blocks, and then the others.
func (c *call) routes(t RouteTable) []Route {
	v := c.st.vpcs[t.VPC]
	out := []Route{{CIDR: v.CIDR, Gateway: "local", Origin: "CreateRouteTable"}}
	if v.IPv6CIDR != "" {
		out = append(out, Route{IPv6CIDR: v.IPv6CIDR, Gateway: "local", Origin: "CreateRouteTable"})
	}
	return append(out, t.Routes...)
}

type routeXML struct {
	CIDR     string `xml:"destinationCidrBlock,omitempty"`
	IPv6CIDR string `xml:"destinationIpv6CidrBlock,omitempty"`
	Gateway  string `xml:"gatewayId,omitempty"`
	State    string `xml:"state"`
	Origin   string `xml:"origin"`
}

type tableAssociationXML struct {
	ID     string    `xml:"routeTableAssociationId"`
	Table  string    `xml:"routeTableId"`
	Subnet string    `xml:"subnetId,omitempty"`
	Main   bool      `xml:"main"`
	State  statusXML `xml:"associationState"`
}

type tableXML struct {
	ID           string                `xml:"routeTableId"`
	VPC          string                `xml:"vpcId"`
	Owner        string                `xml:"ownerId"`
	Routes       []routeXML            `xml:"routeSet"`
	Associations []tableAssociationXML `xml:"associationSet"`
	Propagating  []struct{}            `xml:"propagatingVgwSet"`
	Tags         []tagXML              `xml:"tagSet"`
}

func (c *call) tableXML(t RouteTable) tableXML {
	x := tableXML{ID: t.ID, VPC: t.VPC, Owner: c.opt.Account, Tags: c.tagsXML(t.ID)}
	for _, r := range c.routes(t) {
		x.Routes = append(x.Routes, routeXML{r.CIDR, r.IPv6CIDR, r.Gateway, "active", r.Origin})
	}
	for _, a := range t.Associations {
		x.Associations = append(x.Associations, tableAssociationXML{a.ID, t.ID, a.Subnet, a.Main, statusXML{"associated"}})
	}
	return x
}

func tableProperties() properties[RouteTable] {
	assoc := func(of func(Association) string) property[RouteTable] {
		return func(_ *call, t RouteTable) []string {
			var out []string
			for _, a := range t.Associations {
				out = append(out, singleValue(of(a))...)
			}
			return out
		}
	}
	return properties[RouteTable]{
		"association.subnet-id": assoc(func(a Association) string { return a.Subnet }),
		"association.main":      assoc(func(a Association) string { return strconv.FormatBool(a.Main) }),
		"route-table-id":        func(_ *call, t RouteTable) []string { return singleValue(t.ID) },
		"vpc-id":                func(_ *call, t RouteTable) []string { return singleValue(t.VPC) },
	}
}

func describeRouteTables(c *call) (any, error) {
	return describeAs(c, listing[RouteTable]{
		kind: kindOf("rtb"), param: "RouteTableId", id: func(t RouteTable) string { return t.ID },
		props: tableProperties(), objects: sortedByID(c.st.tables), most: 100,
	}, "routeTableSet", c.tableXML)
}
