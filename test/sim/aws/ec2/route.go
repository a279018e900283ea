package ec2

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

func (t RouteTable) main() bool {
	return slices.ContainsFunc(t.Associations, func(a Association) bool { return a.Main })
}

func (s *state) mainTable(vpc string) RouteTable {
	for _, t := range sorted(s.tables) {
		if t.VPC == vpc && t.main() {
			return t
		}
	}
	return RouteTable{}
}

// routes gives the local routes, which follow the VPC's blocks, and then the others.
func (c *call) routes(t RouteTable) []Route {
	v := c.st.vpcs[t.VPC]
	var out []Route
	for _, cidr := range v.cidrs() {
		out = append(out, Route{CIDR: cidr, Gateway: "local", Origin: "CreateRouteTable"})
	}
	if v.IPv6CIDR != "" {
		out = append(out, Route{IPv6CIDR: v.IPv6CIDR, Gateway: "local", Origin: "CreateRouteTable"})
	}
	return append(out, t.Routes...)
}

type routeXML struct {
	CIDR       string `xml:"destinationCidrBlock,omitempty"`
	IPv6CIDR   string `xml:"destinationIpv6CidrBlock,omitempty"`
	PrefixList string `xml:"destinationPrefixListId,omitempty"`
	Gateway    string `xml:"gatewayId,omitempty"`
	NAT        string `xml:"natGatewayId,omitempty"`
	Instance   string `xml:"instanceId,omitempty"`
	Owner      string `xml:"instanceOwnerId,omitempty"`
	Interface  string `xml:"networkInterfaceId,omitempty"`
	State      string `xml:"state"`
	Origin     string `xml:"origin"`
}

type tableAssociationXML struct {
	ID     string    `xml:"routeTableAssociationId"`
	Table  string    `xml:"routeTableId"`
	Subnet string    `xml:"subnetId,omitempty"`
	Main   bool      `xml:"main"`
	State  statusXML `xml:"associationState"`
}

type tableXML struct {
	ID           string                           `xml:"routeTableId"`
	VPC          string                           `xml:"vpcId"`
	Owner        string                           `xml:"ownerId"`
	Routes       query.Items[routeXML]            `xml:"routeSet"`
	Associations query.Items[tableAssociationXML] `xml:"associationSet"`
	Propagating  query.Items[struct{}]            `xml:"propagatingVgwSet"`
	Tags         query.Items[tagXML]              `xml:"tagSet"`
}

func (c *call) tableXML(t RouteTable) tableXML {
	x := tableXML{ID: t.ID, VPC: t.VPC, Owner: c.opt.Account}
	if tags := c.tagsXML(t.ID); tags != nil {
		x.Tags = *tags
	}
	for _, r := range c.routes(t) {
		rx := routeXML{
			CIDR: r.CIDR, IPv6CIDR: r.IPv6CIDR, PrefixList: r.PrefixList, Gateway: r.Gateway, NAT: r.NATTarget,
			Instance: r.Instance, Interface: r.Interface, State: "active", Origin: r.Origin,
		}
		if r.Instance != "" {
			rx.Owner = c.opt.Account
		}
		if c.blackhole(t, r) {
			rx.State = "blackhole"
		}
		x.Routes.Item = append(x.Routes.Item, rx)
	}
	for _, a := range t.Associations {
		x.Associations.Item = append(x.Associations.Item, tableAssociationXML{a.ID, t.ID, a.Subnet, a.Main, statusXML{"associated"}})
	}
	return x
}

func tableProperties() properties[RouteTable] {
	route := func(of func(Route) string) property[RouteTable] {
		return func(c *call, t RouteTable) []string {
			var out []string
			for _, r := range c.routes(t) {
				out = append(out, one(of(r))...)
			}
			return out
		}
	}
	assoc := func(of func(Association) string) property[RouteTable] {
		return func(_ *call, t RouteTable) []string {
			var out []string
			for _, a := range t.Associations {
				out = append(out, one(of(a))...)
			}
			return out
		}
	}
	return properties[RouteTable]{
		"association.route-table-association-id": assoc(func(a Association) string { return a.ID }),
		"association.subnet-id":                  assoc(func(a Association) string { return a.Subnet }),
		"association.main":                       assoc(func(a Association) string { return strconv.FormatBool(a.Main) }),
		"association.route-table-id": func(_ *call, t RouteTable) []string {
			if len(t.Associations) == 0 {
				return nil
			}
			return one(t.ID)
		},
		"owner-id":                          func(c *call, _ RouteTable) []string { return one(c.opt.Account) },
		"route-table-id":                    func(_ *call, t RouteTable) []string { return one(t.ID) },
		"vpc-id":                            func(_ *call, t RouteTable) []string { return one(t.VPC) },
		"route.destination-cidr-block":      route(func(r Route) string { return r.CIDR }),
		"route.destination-ipv6-cidr-block": route(func(r Route) string { return r.IPv6CIDR }),
		"route.destination-prefix-list-id":  route(func(r Route) string { return r.PrefixList }),
		"route.gateway-id":                  route(func(r Route) string { return r.Gateway }),
		"route.instance-id":                 route(func(r Route) string { return r.Instance }),
		"route.nat-gateway-id":              route(func(r Route) string { return r.NATTarget }),
		"route.origin":                      route(func(r Route) string { return r.Origin }),
		"route.state": func(c *call, t RouteTable) []string {
			var out []string
			for _, r := range c.tableXML(t).Routes.Item {
				out = append(out, r.State)
			}
			return out
		},
	}.unused("association.gateway-id", "route.egress-only-internet-gateway-id", "route.transit-gateway-id", "route.vpc-peering-connection-id")
}

func describeRouteTables(c *call) (any, error) {
	page, next, err := describe(c, listing[RouteTable]{
		kind: kindTable(), param: "RouteTableId", id: func(t RouteTable) string { return t.ID },
		props: tableProperties(), objects: sorted(c.st.tables), most: 100,
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Tables query.Items[tableXML] `xml:"routeTableSet"`
		Next   string                `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, t := range page {
		out.Tables.Item = append(out.Tables.Item, c.tableXML(t))
	}
	return out, nil
}

func createRouteTable(c *call) (any, error) {
	v, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	if err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "route-table")
	if err != nil {
		return nil, err
	}
	t := RouteTable{ID: c.st.newID("rtb"), VPC: v.ID}
	c.st.tables[t.ID] = t
	c.setTags(t.ID, specs["route-table"])
	return struct {
		Table tableXML `xml:"routeTable"`
	}{c.tableXML(t)}, nil
}

func deleteRouteTable(c *call) (any, error) {
	t, err := required(c, c.st.tables, kindTable(), "RouteTableId")
	if err != nil {
		return nil, err
	}
	if len(t.Associations) > 0 {
		return nil, query.Errorf("DependencyViolation", "The routeTable '%s' has dependencies and cannot be deleted.", t.ID)
	}
	delete(c.st.tables, t.ID)
	c.st.drop(t.ID)
	return nil, nil
}

// routeDestination reads the destination of a route call.
func routeDestination(c *call) (Route, error) {
	var r Route
	if text := c.Str("DestinationCidrBlock"); text != "" {
		p, ok := canonical(text, false)
		if !ok {
			return r, badValue("destinationCidrBlock", text, "This is not a valid CIDR block.")
		}
		r.CIDR = p.String()
		return r, nil
	}
	if text := c.Str("DestinationIpv6CidrBlock"); text != "" {
		p, ok := canonical(text, true)
		if !ok {
			return r, badValue("destinationIpv6CidrBlock", text, "This is not a valid CIDR block.")
		}
		r.IPv6CIDR = p.String()
		return r, nil
	}
	list, err := required(c, c.st.lists, kindList(), "DestinationPrefixListId")
	r.PrefixList = list.ID
	return r, err
}

func (r Route) sameDestination(o Route) bool {
	return r.CIDR == o.CIDR && r.IPv6CIDR == o.IPv6CIDR && r.PrefixList == o.PrefixList
}

func createRoute(c *call) (any, error) {
	t, err := required(c, c.st.tables, kindTable(), "RouteTableId")
	if err != nil {
		return nil, err
	}
	r, err := routeDestination(c)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(c.routes(t), r.sameDestination) {
		return nil, query.Errorf("RouteAlreadyExists", "The route identified by %s%s%s already exists.", r.CIDR, r.IPv6CIDR, r.PrefixList)
	}
	if err := c.aim(&r); err != nil {
		return nil, err
	}
	t.Routes = append(slices.Clone(t.Routes), r)
	c.st.tables[t.ID] = t
	return nil, nil
}
