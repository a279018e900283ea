package permissions

import (
	"encoding/json"
	"strings"
)

// OpenStack is a project of an OpenStack cloud. What is granted are access rules of an
// application credential: calls by service, method and path, where * stands for an id.
// Source: Keystone API reference, application credentials, access rules; API references
// of Octavia, Neutron and Barbican.
func OpenStack() Cloud {
	return Cloud{
		File: "openstack.json",
		verb: openstackRule,
		rare: map[string]string{
			"load-balancer.FailoverLoadBalancer": "a load balancer in ERROR",
			"load-balancer.UpdateLoadBalancer":   "a load balancer that several Services use, or that has another name",
			"key-manager.ShowSecret":             "a certificate that is no container",
		},
		free: map[string]string{"identity": "gives the tokens for which the rules hold"},
		file: accessRules,
	}
}

// openstackRule is the call of an operation.
func openstackRule(service, _, operation string) (string, bool) {
	calls := map[string]string{
		"ShowContainer": "GET /v1/containers/*", "ShowSecret": "GET /v1/secrets/*",
		"ListNetworks": "GET /v2.0/networks", "ListSubnets": "GET /v2.0/subnets", "ShowSubnet": "GET /v2.0/subnets/*",
		"ListPorts": "GET /v2.0/ports", "UpdatePort": "PUT /v2.0/ports/*",
		"ListVersions": "GET /", "BatchUpdateMembers": "PUT /v2.0/lbaas/pools/*/members", "CreateMember": "POST /v2.0/lbaas/pools/*/members",
		"DeleteMember": "DELETE /v2.0/lbaas/pools/*/members/*", "ListMembers": "GET /v2.0/lbaas/pools/*/members",
		"FailoverLoadBalancer": "PUT /v2.0/lbaas/loadbalancers/*/failover",
	}
	things := map[string]string{
		"LoadBalancer": "lbaas/loadbalancers", "Listener": "lbaas/listeners", "Pool": "lbaas/pools", "HealthMonitor": "lbaas/healthmonitors",
		"FloatingIP": "floatingips", "SecurityGroup": "security-groups", "SecurityGroupRule": "security-group-rules",
	}
	forms := map[string][2]string{
		"List": {"GET", ""}, "Show": {"GET", "/*"}, "Create": {"POST", ""}, "Update": {"PUT", "/*"}, "Delete": {"DELETE", "/*"},
	}
	if call := calls[operation]; call != "" {
		return service + " " + call, true
	}
	for verb, form := range forms {
		thing, is := strings.CutPrefix(operation, verb)
		suffix := form[1]
		if verb == "List" {
			thing, suffix = strings.TrimSuffix(thing, "s"), ""
		}
		if path := things[thing]; is && path != "" {
			return service + " " + form[0] + " /v2.0/" + path + suffix, true
		}
	}
	return "", false
}

// accessRules writes a list as `openstack application credential create --access-rules`
// reads it.
func accessRules(needs []string) ([]byte, error) {
	type rule struct {
		Service string `json:"service"`
		Method  string `json:"method"`
		Path    string `json:"path"`
	}
	var out []rule
	for _, need := range needs {
		part := strings.SplitN(need, " ", 3)
		out = append(out, rule{part[0], part[1], part[2]})
	}
	body, err := json.MarshalIndent(out, "", "  ")
	return append(body, '\n'), err
}
