package oci

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// rules is the collection of the rules of network security groups.
const rules = "securityrule"

// rulesAtOnce is how many rules one call adds or removes.
// Source: API reference, AddNetworkSecurityGroupSecurityRules.
const rulesAtOnce = 25

func groupRoutes() []route {
	path := pathCore + "networkSecurityGroups"
	of := func(body schema, run func(v *visit, g, body rest.Object) (any, error)) func(*visit) (any, error) {
		return onObject(groups, "network security group", body, run)
	}
	update := of(groupSchema(), func(v *visit, g, body rest.Object) (any, error) { return v.change(groups, g, body) })
	add, remove := schema{"securityRules": listProp(objectProp(groupRuleSchema())).must()}, schema{"securityRuleIds": idsProp().must()}
	return []route{
		rest.Reads(apiCore, "ListNetworkSecurityGroups", path, listOf(groups, asIs, false, "vcnId", "displayName", lifecycle)),
		rest.Reads(apiCore, "GetNetworkSecurityGroup", path+"/{id}", readObject(groups, "network security group", asIs)),
		writeRoute(apiCore, "CreateNetworkSecurityGroup", http.MethodPost, path, http.StatusOK, createGroup),
		writeRoute(apiCore, "UpdateNetworkSecurityGroup", http.MethodPut, path+"/{id}", http.StatusOK, update),
		writeRoute(apiCore, "DeleteNetworkSecurityGroup", http.MethodDelete, path+"/{id}", http.StatusNoContent, of(nil, deleteGroup)),
		rest.Reads(apiCore, "ListNetworkSecurityGroupSecurityRules", path+"/{id}/securityRules", of(nil, listRules)),
		writeRoute(apiCore, "AddNetworkSecurityGroupSecurityRules", http.MethodPost, path+"/{id}/actions/addSecurityRules", http.StatusOK, of(add, addRules)),
		writeRoute(apiCore, "RemoveNetworkSecurityGroupSecurityRules", http.MethodPost, path+"/{id}/actions/removeSecurityRules", http.StatusNoContent, of(remove, removeRules)),
		writeRoute(apiCore, "UpdateSecurityList", http.MethodPut, pathCore+"securityLists/{id}", http.StatusOK, onObject(lists, "security list", listSchema(), updateList)),
	}
}

func groupSchema() schema {
	return tagSchema().with(schema{"displayName": prop{kind: aText, min: 1, max: 255}})
}

func createGroup(v *visit) (any, error) {
	body, err := groupSchema().with(schema{"compartmentId": idProp().must(), "vcnId": idProp().must()}).read("", v.Body)
	if err != nil {
		return nil, err
	}
	for table, id := range map[string]string{compartments: body.Text("compartmentId"), vcns: body.Text("vcnId")} {
		if _, ok := v.State.Get(table, id); !ok {
			return nil, notFound(table, id)
		}
	}
	if body, err = v.checkTags(body); err != nil {
		return nil, err
	}
	of := v.State.All(groups, rest.Where("vcnId", body.Text("vcnId")))
	if most := v.cloud.opt.Limits.NetworkSecurityGroups; len(of) >= most {
		return nil, tooMany("network security groups", most)
	}
	made := v.State.store(groups, rest.Object{"displayName": "networksecuritygroup"}.With(body).With(rest.Object{
		"id": v.State.id(groups), lifecycle: "AVAILABLE", "timeCreated": formatTime(v.Time),
	}))
	v.created = [2]string{groups, made.Text("id")}
	return v.shown(made), nil
}

// shown answers an object with its etag.
func (v *visit) shown(o rest.Object) rest.Object {
	v.tag(o)
	return asIs(v.State, o)
}

// onObject returns a call about an object. A call without a schema has no body.
func onObject(collection, what string, body schema, run func(v *visit, o, body rest.Object) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		o, ok := v.State.Get(collection, v.Params["id"])
		if !ok {
			return nil, notFound(what, v.Params["id"])
		}
		if err := v.match(o); err != nil {
			return nil, err
		}
		if body == nil {
			return run(v, o, nil)
		}
		given, err := body.read("", v.Body)
		if err != nil {
			return nil, err
		}
		return run(v, o, given)
	}
}

// change stores the new values of an object of a collection, and answers it.
func (v *visit) change(collection string, o, values rest.Object) (any, error) {
	next, err := v.checkTags(o.With(values))
	if err != nil {
		return nil, err
	}
	return v.shown(v.State.store(collection, next)), nil
}

// deleteGroup removes a group that nothing is in. Rules of other groups that name it stay,
// and are not valid any more.
// Source: API reference, DeleteNetworkSecurityGroup and SecurityRule.isValid.
func deleteGroup(v *visit, g, _ rest.Object) (any, error) {
	id := g.Text("id")
	for table, key := range map[string]string{balancers: "networkSecurityGroupIds", networkLBs: "networkSecurityGroupIds", vnics: "nsgIds"} {
		for _, o := range v.State.All(table, nil) {
			if slices.Contains(o.Texts(key), id) {
				return nil, rest.Refuse(http.StatusConflict, "IncorrectState", "Network security group %s has the VNIC of %s in it", id, o.Text("id"))
			}
		}
	}
	for _, r := range v.State.All(rules, nil) {
		switch {
		case r.Text(holder) == id:
			v.State.Drop(rules, r.Text("id"))
		case r.Text("source") == id || r.Text("destination") == id:
			v.State.Put(rules, r.With(rest.Object{"isValid": false}))
		}
	}
	v.State.Drop(groups, id)
	return nil, nil
}

func listRules(v *visit, g, _ rest.Object) (any, error) {
	direction := v.HTTP.URL.Query().Get("direction")
	all := v.State.All(rules, func(o rest.Object) bool {
		return o.Text(holder) == g.Text("id") && (direction == "" || direction == o.Text("direction"))
	})
	return v.page(all, asIs, false)
}

func addRules(v *visit, g, body rest.Object) (any, error) {
	added := body.Objects("securityRules")
	if len(added) < 1 || len(added) > rulesAtOnce {
		return nil, invalidParam("securityRules: there are %d, and there may be 1 to %d", len(added), rulesAtOnce)
	}
	most := v.cloud.opt.Limits.GroupRules
	if n := len(v.State.All(rules, rest.Where(holder, g.Text("id")))); n+len(added) > most {
		return nil, tooMany("rules of a network security group", most)
	}
	out := []any{}
	for _, r := range added {
		if err := v.checkRule(r, r.Text("direction"), g.Text("vcnId")); err != nil {
			return nil, err
		}
		v.State.made++
		made := v.State.Put(rules, r.With(rest.Object{"id": fmt.Sprintf("%06X", v.State.made), "isValid": true, "timeCreated": formatTime(v.Time), holder: g.Text("id")}))
		out = append(out, asIs(v.State, made))
	}
	return rest.Object{"securityRules": out}, nil
}

func removeRules(v *visit, g, body rest.Object) (any, error) {
	gone := body.Texts("securityRuleIds")
	if len(gone) < 1 || len(gone) > rulesAtOnce {
		return nil, invalidParam("securityRuleIds: there are %d, and there may be 1 to %d", len(gone), rulesAtOnce)
	}
	for _, id := range gone {
		if r, ok := v.State.Get(rules, id); !ok || r.Text(holder) != g.Text("id") {
			return nil, relatedNotFound("security rule", id)
		}
		v.State.Drop(rules, id)
	}
	return nil, nil
}

// ruleSchema is what rules of groups and of lists have in common.
func ruleSchema() schema {
	ports := objectProp(schema{"min": numberProp(1, 65535).must(), "max": numberProp(1, 65535).must()})
	transport := objectProp(schema{"destinationPortRange": ports, "sourcePortRange": ports})
	return schema{
		"protocol": textProp().must(), "isStateless": boolProp().otherwise(false), "description": prop{kind: aText, max: 255},
		"tcpOptions": transport, "udpOptions": transport, "icmpOptions": objectProp(schema{"type": numberProp(0, 255).must(), "code": numberProp(0, 255)}),
	}
}

// groupRuleSchema is a rule of a group, whose peer may be another group.
func groupRuleSchema() schema {
	peer := oneOf("CIDR_BLOCK", "SERVICE_CIDR_BLOCK", "NETWORK_SECURITY_GROUP")
	return ruleSchema().with(schema{"direction": oneOf("INGRESS", "EGRESS").must(), "source": textProp(), "destination": textProp(), "sourceType": peer, "destinationType": peer})
}

// listSchema is a security list, whose rules are the same by direction.
func listSchema() schema {
	peer := func(name string) prop {
		return listProp(objectProp(ruleSchema().with(schema{name: textProp().must(), name + "Type": oneOf("CIDR_BLOCK", "SERVICE_CIDR_BLOCK").otherwise("CIDR_BLOCK")})))
	}
	return groupSchema().with(schema{"ingressSecurityRules": peer("source"), "egressSecurityRules": peer("destination")})
}

// checkRule refuses a rule that cannot be.
// Source: API reference, AddSecurityRuleDetails, IngressSecurityRule and EgressSecurityRule.
func (v *visit) checkRule(r rest.Object, direction, vcn string) error {
	key, other := "source", "destination"
	if direction == "EGRESS" {
		key, other = other, key
	}
	if r.Text(other) != "" {
		return invalidParam("%s: a rule of the direction %s has none", other, direction)
	}
	switch peer, kind := r.Text(key), r.Text(key+"Type"); kind {
	case "NETWORK_SECURITY_GROUP":
		g, ok := v.State.Get(groups, peer)
		if !ok {
			return relatedNotFound("network security group", peer)
		}
		if g.Text("vcnId") != vcn {
			return invalidParam("%s %s is of another VCN", key, peer)
		}
	case "SERVICE_CIDR_BLOCK":
	default:
		p, err := netip.ParsePrefix(peer)
		if err != nil || p.Masked() != p {
			return invalidParam("%s %q: must be a CIDR block without bits of hosts", key, peer)
		}
	}
	for options, number := range map[string]string{"tcpOptions": "6", "udpOptions": "17"} {
		for _, name := range []string{"destinationPortRange", "sourcePortRange"} {
			between := r.Object(options).Object(name)
			low, _ := between.Number("min")
			if high, _ := between.Number("max"); low > high {
				return invalidParam("%s.%s: %d is above %d", options, name, low, high)
			}
		}
		if r[options] != nil && r.Text("protocol") != number {
			return invalidParam("%s do not fit the protocol %s", options, r.Text("protocol"))
		}
	}
	return nil
}

// updateList replaces the rules that are given, all of a direction at once.
// Source: API reference, UpdateSecurityList: other rules of that direction go.
func updateList(v *visit, l, body rest.Object) (any, error) {
	for key, direction := range map[string]string{"ingressSecurityRules": "INGRESS", "egressSecurityRules": "EGRESS"} {
		if most := v.cloud.opt.Limits.ListRules; len(body.List(key)) > most {
			return nil, tooMany("rules of a security list", most)
		}
		for _, r := range body.Objects(key) {
			if err := v.checkRule(r, direction, l.Text("vcnId")); err != nil {
				return nil, err
			}
		}
	}
	return v.change(lists, l, body)
}
