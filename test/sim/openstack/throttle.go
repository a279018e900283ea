package openstack

import "github.com/berth-lb/berth/test/sim"

// RealThrottle gives buckets like those of a real cloud, for Control.Throttle.Set; a cloud
// starts without any. OpenStack documents no rates: none of its APIs has a limit of its own,
// and operators put one in front of them. These are what one of them gives a project, each
// collection and sort of call apart, by the minute. Changes and deletions of load balancers
// have none there.
// Source: sapcc/helm-charts, openstack/octavia/templates/etc/_ratelimit.yaml.tpl and
// openstack/neutron/values.yaml (rate_limit); sapcc/openstack-rate-limit-middleware,
// docs/configure.md (project scope, groups of actions).
func RealThrottle() []sim.Bucket {
	minute := func(api, name string, calls float64, operations ...string) sim.Bucket {
		return sim.Bucket{Name: api + " " + name, Service: api, Operations: operations, Capacity: calls, Refill: calls / 60, WindowSeconds: 60}
	}
	each := minute(apiOctavia, "calls", 300, "List*", "Show*", "Create*")
	each.Per = sim.PerOperation
	return []sim.Bucket{
		each,
		minute(apiNeutron, "lists of floating IPs", 500, "ListFloatingIPs"),
		minute(apiNeutron, "new floating IPs", 100, "CreateFloatingIP"),
		minute(apiNeutron, "floating IPs", 100, "ShowFloatingIP"),
		minute(apiNeutron, "changes of floating IPs", 100, "UpdateFloatingIP", "DeleteFloatingIP"),
		minute(apiNeutron, "lists of ports", 3100, "ListPorts"),
		minute(apiNeutron, "changes of ports", 100, "UpdatePort"),
		minute(apiNeutron, "networks", 200, "ListNetworks"),
		minute(apiNeutron, "lists of subnets", 300, "ListSubnets"),
		minute(apiNeutron, "subnets", 375, "ShowSubnet"),
		minute(apiNeutron, "lists of groups", 2100, "ListSecurityGroups"),
		minute(apiNeutron, "new groups", 100, "CreateSecurityGroup"),
		minute(apiNeutron, "lists of rules", 7700, "ListSecurityGroupRules"),
		minute(apiNeutron, "new rules", 1000, "CreateSecurityGroupRule"),
		minute(apiNeutron, "deletions of rules", 100, "DeleteSecurityGroupRule"),
	}
}
