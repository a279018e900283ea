package model

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack/plan"
)

// MergePool puts the members of all steps of a batch onto a pool of addresses of
// a load balancer as just read: removals first, because a node that has another
// address keeps its name. Nil: the load balancer has no pool of that name.
func MergePool(lb Object, name string, b plan.Batch) (pool Object, changed bool) {
	add, remove, network := PoolEdits(name, b)
	return MergeMembers(lb, name, add, remove, network)
}

// MergeMembers is MergePool with the members that are to join and to leave.
func MergeMembers(lb Object, name string, add, remove []PoolAddress, network string) (pool Object, changed bool) {
	pools := lb.Props().List(ListPools)
	i := Named(pools, name)
	if i < 0 {
		return nil, false
	}
	pool = pools[i].Clone()
	p := pool.Make("properties")
	list := p.List("loadBalancerBackendAddresses")
	adding, gone, has := map[PoolAddress]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range add {
		adding[a] = true
	}
	for _, a := range remove {
		gone[a.IP] = gone[a.IP] || !adding[a]
	}
	list = slices.DeleteFunc(list, func(o Object) bool { return gone[memberIP(o)] })
	for _, o := range list {
		has[memberIP(o)] = true
	}
	for _, a := range add {
		if !has[a.IP] {
			list = append(list, Object{"name": a.Name, "properties": map[string]any{"ipAddress": a.IP}})
			has[a.IP] = true
		}
	}
	if _, there := p["loadBalancerBackendAddresses"]; there || len(list) > 0 {
		p.SetList("loadBalancerBackendAddresses", list)
	}
	if network != "" && len(list) > 0 && !SameID(p.In("virtualNetwork").Text("id"), network) && !hasNetworks(list) {
		p["virtualNetwork"] = IDObject(network)
	}
	return pool, !reflect.DeepEqual(map[string]any(pool), map[string]any(pools[i]))
}

func memberIP(o Object) string { return Canonical(o.Props().Text("ipAddress")) }

// hasNetworks reports whether the members name their own network.
func hasNetworks(list []Object) bool {
	return slices.ContainsFunc(list, func(o Object) bool { return o.Props().In("virtualNetwork") != nil })
}

// PoolEdits gathers what the steps add to and remove from the pool.
func PoolEdits(name string, b plan.Batch) (add, remove []PoolAddress, network string) {
	for _, s := range b.Steps {
		spec, ok := s.Target.Spec.(Pool)
		if !ok || lowerCase(spec.Name) != lowerCase(name) || s.ID.Action == plan.Delete {
			continue
		}
		network = cmp.Or(spec.Network, network)
		if s.ID.Action == plan.Create {
			add = append(add, spec.Addresses...)
			continue
		}
		more, less := plan.Members[PoolAddress](s)
		add, remove = append(add, more...), append(remove, less...)
	}
	return add, remove, network
}
