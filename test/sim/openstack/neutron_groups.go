package openstack

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

func showGroup(s *state, g Object) Object {
	inside := []any{}
	for _, r := range s.Having(rules, "security_group_id", g.Text("id")) {
		inside = append(inside, r)
	}
	return g.With(Object{"security_group_rules": inside})
}

// createGroup makes a group, which lets everything out. Source: a real Neutron.
func createGroup(v *visit) (any, error) {
	if n := v.cloud.opt.Limits.SecurityGroups; n > 0 && len(v.State.All(groups, nil)) >= n {
		return nil, rest.Refuse(http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['security_group'].")
	}
	wish := v.Body.Object("security_group")
	g := v.State.Put(groups, Object{
		"id": v.State.id(groups), "name": wish.Text("name"), "description": wish.Text("description"), "project_id": v.cloud.projectID(), "tenant_id": v.cloud.projectID(),
		"tags": []any{}, "stateful": true, "shared": false, "revision_number": float64(1), "created_at": formatTime(v.Time) + "Z", "updated_at": formatTime(v.Time) + "Z",
	})
	for _, ethertype := range []string{"IPv4", "IPv6"} {
		v.makeRule(Object{"security_group_id": g.Text("id"), "direction": "egress", "ethertype": ethertype})
	}
	return Object{"security_group": showGroup(v.State, g)}, nil
}

func (v *visit) makeRule(wish Object) Object {
	return v.State.Put(rules, Object{
		"protocol": nil, "port_range_min": nil, "port_range_max": nil, "remote_ip_prefix": nil, "remote_group_id": nil, "remote_address_group_id": nil, "description": "",
		"project_id": v.cloud.projectID(), "tenant_id": v.cloud.projectID(), "revision_number": float64(0),
	}.With(wish.Only(ruleKeys()...)).With(Object{"id": v.State.id(rules)}))
}

func ruleKeys() []string {
	return []string{"security_group_id", "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_group_id", "description"}
}

func deleteGroup(v *visit) (any, error) {
	id := v.Params["id"]
	if _, ok := v.State.Get(groups, id); !ok {
		return nil, rest.Refuse(http.StatusNotFound, "SecurityGroupNotFound", "Security group %s does not exist", id)
	}
	used := v.State.All(ports, func(p Object) bool { return slices.Contains(p.Texts("security_groups"), id) })
	if len(used) > 0 {
		return nil, rest.Refuse(http.StatusConflict, "SecurityGroupInUse", "Security Group %s in use.", id)
	}
	for _, r := range v.State.Having(rules, "security_group_id", id) {
		v.State.Drop(rules, r.Text("id"))
	}
	v.State.Drop(groups, id)
	return nil, nil
}

// createRules makes one rule, or a list of them at once.
func createRules(v *visit) (any, error) {
	many := v.Body.Objects("security_group_rules")
	if one := v.Body.Object("security_group_rule"); one != nil {
		many = []Object{one}
	}
	made := []any{}
	for _, wish := range many {
		r, err := v.addRule(wish)
		if err != nil {
			return nil, err
		}
		made = append(made, r)
	}
	if v.Body.Object("security_group_rule") != nil {
		return Object{"security_group_rule": made[0]}, nil
	}
	return Object{"security_group_rules": made}, nil
}

func (v *visit) addRule(wish Object) (Object, error) {
	if _, ok := v.State.Get(groups, wish.Text("security_group_id")); !ok {
		return nil, rest.Refuse(http.StatusNotFound, "SecurityGroupNotFound", "Security group %s does not exist", wish.Text("security_group_id"))
	}
	if n := v.cloud.opt.Limits.SecurityGroupRules; n > 0 && len(v.State.All(rules, nil)) >= n {
		return nil, rest.Refuse(http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['security_group_rule'].")
	}
	if wish.Text("ethertype") == "" {
		wish = wish.With(Object{"ethertype": "IPv4"})
	}
	if text := wish.Text("remote_ip_prefix"); text != "" {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Addr().Is4() != (wish.Text("ethertype") == "IPv4") {
			return nil, rest.Refuse(http.StatusBadRequest, "SecurityGroupRuleParameterConflict", "Conflicting value ethertype %s for CIDR %s", wish.Text("ethertype"), text)
		}
	}
	for _, other := range v.State.Having(rules, "security_group_id", wish.Text("security_group_id")) {
		if sameRule(other, wish) {
			return nil, rest.Refuse(http.StatusConflict, "SecurityGroupRuleExists", "Security group rule already exists. Rule id is %s.", other.Text("id"))
		}
	}
	return v.makeRule(wish), nil
}

func sameRule(a, b Object) bool {
	return !slices.ContainsFunc(ruleKeys(), func(k string) bool {
		x, given := a.Number(k)
		if y, also := b.Number(k); given || also {
			return given != also || x != y
		}
		return k != "description" && a.Text(k) != b.Text(k)
	})
}

func deleteRule(v *visit) (any, error) {
	if _, ok := v.State.Get(rules, v.Params["id"]); !ok {
		return nil, rest.Refuse(http.StatusNotFound, "SecurityGroupRuleNotFound", "Security group rule %s does not exist", v.Params["id"])
	}
	v.State.Drop(rules, v.Params["id"])
	return nil, nil
}
