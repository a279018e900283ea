package ibm

import (
	"net/http"
	"net/netip"

	"github.com/berth-lb/berth/test/sim/rest"
)

// mostRules is the number of rules of a security group. Source: ibm-cloud-docs/vpc, quotas.md.
const mostRules = 250

// withRules returns a security group as the API answers it.
func withRules(v *visit, g rest.Object) rest.Object {
	var out []any
	for _, r := range v.State.Having(rules, owner, g.Text("id")) {
		out = append(out, r.Without(owner))
	}
	return g.With(rest.Object{"rules": orEmpty(out), "targets": orEmpty(v.targetsOf(g.Text("id")))})
}

// targetsOf returns the load balancers of a security group.
func (v *visit) targetsOf(group string) []any {
	var out []any
	for _, lb := range v.State.All(balancers, nil) {
		if len(removeGroup(lb, group)) < len(lb.Objects("security_groups")) {
			out = append(out, showTarget(lb))
		}
	}
	return out
}

// showTarget returns a load balancer as a target of a security group.
func showTarget(lb rest.Object) rest.Object {
	return lb.Only("id", "name", "crn", "href").With(rest.Object{"resource_type": "load_balancer"})
}

// createRule creates a rule of TCP or UDP for one address. A security group has one rule of a name.
// Source: VPC API reference, "Create a rule for a security group".
func createRule(v *visit) (any, error) {
	g, ok := v.State.Get(groups, v.Params["id"])
	if !ok {
		return nil, refuseMissing("security_group", v.Params["id"])
	}
	name, id := v.Body.Text("name"), v.State.id()
	if name == "" {
		name = "words-" + id[5:13]
	}
	all := v.State.Having(rules, owner, g.Text("id"))
	first, _ := v.Body.Number("port_min")
	last, _ := v.Body.Number("port_max")
	_, err := netip.ParseAddr(v.Body.Object("remote").Text("address"))
	switch {
	case !nameForm.MatchString(name):
		return nil, refuseInvalid("name", "%q is not a valid name", name)
	case len(all) >= mostRules:
		return nil, overQuota("rules of the security group", mostRules)
	case v.Body.Text("direction") != "inbound" && v.Body.Text("direction") != "outbound":
		return nil, refuseInvalid("direction", "%q is neither inbound nor outbound", v.Body.Text("direction"))
	case v.Body.Text("protocol") != "tcp" && v.Body.Text("protocol") != "udp":
		return nil, refuseInvalid("protocol", "%q is neither tcp nor udp", v.Body.Text("protocol"))
	case first < 1 || last < first || last > 65535:
		return nil, refuseInvalid("port_min", "%d to %d is no range of ports", first, last)
	case err != nil:
		return nil, refuseInvalid("remote", "%v", err)
	}
	for _, r := range all {
		if r.Text("name") == name {
			return nil, rest.Refuse(http.StatusBadRequest, "security_group_rule_duplicate_name", "The rule name '%s' is in use in the security group", name)
		}
	}
	return v.State.Put(rules, rest.Object{
		"id": id, "name": name, owner: g.Text("id"), "direction": v.Body.Text("direction"), "ip_version": "ipv4", "protocol": v.Body.Text("protocol"),
		"port_min": v.Body["port_min"], "port_max": v.Body["port_max"], "remote": v.Body.Object("remote"), "local": rest.Object{"cidr_block": "0.0.0.0/0"},
		"href": v.href("security_groups", g.Text("id"), "rules", id), "resource_type": "security_group_rule",
	}).Without(owner), nil
}

func deleteRule(v *visit) (any, error) {
	r, ok := v.State.Get(rules, v.Params["rule"])
	if !ok || r.Text(owner) != v.Params["id"] {
		return nil, refuseMissing("security_group_rule", v.Params["rule"])
	}
	v.State.Drop(rules, r.Text("id"))
	return nil, nil
}

// AddNodeRule adds an outbound rule to the security group of the nodes, as another program does.
func (c *Cloud) AddNodeRule(name, address string, port int) {
	c.Locked(func() {
		id := c.Live.id()
		c.Live.Put(rules, rest.Object{
			"id": id, "name": name, owner: c.Seed.NodeGroup, "direction": "outbound", "ip_version": "ipv4", "protocol": "tcp",
			"port_min": port, "port_max": port, "remote": rest.Object{"address": address}, "resource_type": "security_group_rule",
		})
	})
}

// Rule is one port of an address that a security group opens to its members.
type Rule struct {
	ID, Name, Address string
	Port              int
}

// NodeRules returns the rules of the security group of the cluster's nodes.
func (c *Cloud) NodeRules() []Rule {
	var out []Rule
	c.Locked(func() {
		for _, r := range c.Live.Having(rules, owner, c.Seed.NodeGroup) {
			port, _ := r.Number("port_min")
			out = append(out, Rule{r.Text("id"), r.Text("name"), r.Object("remote").Text("address"), port})
		}
	})
	return out
}
