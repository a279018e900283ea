package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// aim reads the one target of a route call.
func (c *call) aim(r *Route) error {
	*r = Route{CIDR: r.CIDR, IPv6CIDR: r.IPv6CIDR, PrefixList: r.PrefixList, Origin: "CreateRoute"}
	var err error
	switch {
	case c.Has("GatewayId"):
		var g Gateway
		g, err = required(c, c.st.gateways, kindGateway(), "GatewayId")
		r.Gateway = g.ID
	case c.Has("InstanceId"):
		var i Instance
		i, err = required(c, c.st.instances, kindInstance(), "InstanceId")
		r.Instance = i.ID
	case c.Has("NetworkInterfaceId"):
		var i Interface
		i, err = required(c, c.st.interfaces, kindInterface(), "NetworkInterfaceId")
		r.Interface = i.ID
	case c.Has("NatGatewayId"):
		var n NATGateway
		n, err = required(c, c.st.nats, kindNAT(), "NatGatewayId")
		r.NATTarget = n.ID
	default:
		err = missingParameter("GatewayId")
	}
	return err
}

// blackhole tells routes whose target is gone or leads out of another network.
func (c *call) blackhole(t RouteTable, r Route) bool {
	switch {
	case r.Gateway != "":
		return r.Gateway != "local" && c.st.gateways[r.Gateway].VPC != t.VPC
	case r.NATTarget != "":
		return c.st.nats[r.NATTarget].State != "available"
	case r.Instance != "":
		return c.st.instances[r.Instance].State != "running"
	case r.Interface != "":
		return c.st.interfaces[r.Interface].Instance == ""
	}
	return false
}

func replaceRoute(c *call) (any, error) {
	t, err := required(c, c.st.tables, kindTable(), "RouteTableId")
	if err != nil {
		return nil, err
	}
	r, err := routeDestination(c)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(t.Routes, r.sameDestination)
	if at < 0 {
		return nil, query.Errorf("InvalidParameterValue", "There is no route defined for '%s%s%s' in the route table. Use CreateRoute instead.", r.CIDR, r.IPv6CIDR, r.PrefixList)
	}
	if err := c.aim(&r); err != nil {
		return nil, err
	}
	t.Routes = slices.Clone(t.Routes)
	t.Routes[at] = r
	c.st.tables[t.ID] = t
	return nil, nil
}

func deleteRoute(c *call) (any, error) {
	t, err := required(c, c.st.tables, kindTable(), "RouteTableId")
	if err != nil {
		return nil, err
	}
	r, err := routeDestination(c)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(t.Routes, r.sameDestination)
	if at < 0 {
		return nil, query.Errorf("InvalidRoute.NotFound", "no route with destination-cidr-block %s%s%s in route table %s", r.CIDR, r.IPv6CIDR, r.PrefixList, t.ID)
	}
	t.Routes = slices.Delete(slices.Clone(t.Routes), at, at+1)
	c.st.tables[t.ID] = t
	return nil, nil
}
