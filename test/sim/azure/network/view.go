package network

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// viewLoadBalancer adds what others know about the parts: rules that use them,
// interfaces in pools.
func viewLoadBalancer(s *arm.State, r *arm.Resource, d arm.Doc) {
	var order []arm.Ref
	for _, c := range []string{rules, natRules, natPools, outboundRules} {
		for _, p := range arm.List(d, "properties", c) {
			order = append(order, arm.References(arm.Text(p, "id"), arm.Object(p, "properties"))...)
		}
	}
	users := map[string][]string{}
	for _, ref := range order {
		key := arm.Key(ref.To)
		if !slices.Contains(users[key], ref.From) {
			users[key] = append(users[key], ref.From)
		}
	}
	for _, c := range []string{frontends, pools, probes} {
		for _, p := range arm.List(d, "properties", c) {
			addUsers(arm.Object(p, "properties"), users[arm.Key(arm.Text(p, "id"))])
		}
	}
	for _, p := range arm.List(d, "properties", pools) {
		viewPool(s, r, p)
	}
}

// addUsers sorts users into lists by the collection that they are in.
func addUsers(props arm.Doc, users []string) {
	by := map[string][]string{}
	for _, u := range users {
		id, _ := arm.ParseID(u)
		kind := id.Types[len(id.Types)-1]
		by[kind] = append(by[kind], u)
	}
	for kind, ids := range by {
		props[kind] = arm.Refs(ids)
	}
}

// viewPool shows members by interface in both lists that clients know.
func viewPool(s *arm.State, r *arm.Resource, p arm.Doc) {
	props := arm.Object(p, "properties")
	members := nicMembers(s, arm.Text(p, "id"))
	if len(members) > 0 {
		props["backendIPConfigurations"] = arm.Refs(members)
		entries := make([]any, 0, len(members))
		for _, m := range members {
			// A member has no name of its own; the service makes one up from where it is.
			id, _ := arm.ParseID(m)
			name := r.ID.Group + "_" + strings.Join(id.Names, "_")
			entries = append(entries, arm.Doc{"name": name, "properties": arm.Doc{"networkInterfaceIPConfiguration": arm.Doc{"id": m}}})
		}
		props[backendAddresses] = entries
		return
	}
	arm.Default(props, []any{}, backendAddresses)
}
