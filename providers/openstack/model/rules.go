package model

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Rules says how resources of every kind are compared and written.
func Rules() diff.Rules {
	all := map[stack.Kind]diff.Rule{}
	maps.Copy(all, balancerRules())
	maps.Copy(all, networkRules())
	return diff.Rules{Kinds: all, Edges: orderEdges(), Lock: lockKeys}
}

// lockKeys allows one change at a time in a load balancer, across the Services that use
// it; the most urgent one first.
func lockKeys(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	key := balancerKey()
	if r.In.Kind == KindBalancer {
		key = r.In
	}
	switch r.Key.Kind {
	case KindBalancer:
		key = r.Key
	case KindShare:
		spec, _ := r.Spec.(Share)
		return []string{"load balancer " + spec.Balancer}
	}
	switch r.Key.Kind {
	case KindBalancer, KindListener, KindPool, KindMembers, KindMonitor:
		if lb, ok := found(key); ok && lb.ID != "" {
			return []string{"load balancer " + lb.ID}
		}
	}
	return nil
}

// balancerRules are those of load balancers and what is below them.
func balancerRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindBalancer: BalancerCodec().Rule(diff.Rule{
			Fields: diff.Fields{
				Ignore: []string{"Stuck"},
				Equal:  map[string]diff.Equal{"Tags": containsAll},
				Parts:  map[string]string{"Status": PartStatus},
				// A load balancer in ERROR may still forward. Only one that does not is
				// replaced; see SlotAddress for the order.
				Immutable: []string{"Lost"},
			},
			Replace: diff.CreateFirst,
			Failed:  diff.Report,
			Clash:   diff.Doubled,
			Pending: diff.Settle,
			Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Interrupts, "Status": plan.Brief}},
		}),
		KindShare: {Fields: diff.Fields{Immutable: []string{"Balancer", "Tag"}}, Clash: diff.Refused},
		KindPool: PoolCodec().Rule(diff.Rule{
			Traffic:  diff.Traffic{Role: diff.Members, Impact: map[string]plan.Impact{"replace": plan.Brief, "delete": plan.Interrupts}},
			ProvenBy: []stack.Kind{KindShare},
			Within:   diff.Within{Inline: true, Cascade: true},
			Fields:   diff.Fields{Ignore: []string{"Claim"}}, // it has effect until the listener exists
			Failed:   diff.Rewrite,
			Replace:  diff.CreateFirst,
		}),
		KindMembers: {
			Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true},
			Within:  diff.Within{Inline: true, Cascade: true},
			Fields:  diff.Fields{Sets: map[string]diff.Set{"Members": {Whole: true}}, Equal: map[string]diff.Equal{"Members": sameMembers}},
			Failed:  diff.Rewrite,
		},
		KindMonitor: MonitorCodec().Rule(diff.Rule{
			Traffic: diff.Traffic{Role: diff.Members},
			Within:  diff.Within{Inline: true, Cascade: true},
			Failed:  diff.Rewrite,
			Replace: diff.DeleteFirst, // a pool has one
			Restore: true,
		}),
		KindListener: ListenerCodec().Rule(diff.Rule{
			Traffic:  diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"replace": plan.Brief, "delete": plan.Interrupts}},
			ProvenBy: []stack.Kind{KindShare},
			Within:   diff.Within{Inline: true, Cascade: true},
			Fields:   diff.Fields{Ignore: []string{"Claim"}, Equal: map[string]diff.Equal{"Tags": containsAll, "Ranges": sameSet}},
			Failed:   diff.Rewrite,
			Replace:  diff.DeleteFirst,
			Restore:  true,
		}),
	}
}

// networkRules are those of floating IPs and security groups.
func networkRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindFloatingIP: FloatingIPCodec().Rule(diff.Rule{
			Fields: diff.Fields{
				Sticky: []string{"Address"},
				Ignore: []string{"Subnets"},
				Parts:  map[string]string{"Keep": "keep"}, // our own note: the cloud has no such thing
			},
			Replace: diff.DeleteFirst, // an address of a load balancer has one
			Clash:   diff.Doubled,
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts}},
		}),
		KindGroup: GroupCodec().Rule(diff.Rule{Clash: diff.Doubled}),
		KindRules: {
			Traffic: diff.Traffic{Role: diff.Admits},
			Within:  diff.Within{Inline: true, Cascade: true},
			Fields: diff.Fields{
				Ignore: []string{"Clients", "Opens", "Shuts"}, // notes of the builder
				Sets:   map[string]diff.Set{"Rules": {Class: classOfRule}},
			},
			Restore: true,
		},
		KindGroupPorts: {
			Traffic: diff.Traffic{Role: diff.Admits, FollowsBackends: true},
			Fields:  diff.Fields{Sets: map[string]diff.Set{"Ports": {Whole: true}}},
			// The ports are those of all Services: each is written once for all of them.
			Batch: func(stack.Resource, plan.Action, string) string { return BatchPorts },
		},
		KindBinding: {
			Fields:  diff.Fields{Immutable: []string{"FloatingIP"}, Ignore: []string{"Address"}},
			Replace: diff.DeleteFirst,
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts}},
		},
	}
}

// BatchPorts is the batch key of the steps that give groups to ports of nodes.
const BatchPorts = "ports of nodes"

// The parts of the steps that add and remove rules of a security group.
const (
	PartAdd    = "rules+"
	PartRemove = "rules-"
	PartOpen   = "opens+"
	PartShut   = "shuts-"
)

// PartStatus is the part of the step that fails over a load balancer in ERROR.
const PartStatus = "status"

// orderEdges returns the orders that do not follow from references.
func orderEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	rules := func(part string) diff.Match { return diff.Match{Action: plan.Update, Kind: KindRules, Part: part} }
	clients := func(e diff.Effect) diff.Match {
		return diff.Match{Action: plan.Update, Kind: KindRules, Effect: e, Where: admitsClients}
	}
	var out []diff.Edge
	for _, kind := range []stack.Kind{KindPool, KindMembers, KindMonitor, KindListener} {
		for _, action := range []plan.Action{plan.Create, plan.Update, plan.Delete} {
			out = append(out, diff.Edge{First: diff.Match{Action: plan.Update, Kind: KindBalancer, Part: PartStatus}, Then: step(action, kind),
				Reason: "a load balancer in ERROR takes no change of what is below it"})
		}
	}
	for _, public := range []stack.Kind{KindFloatingIP, KindBinding} {
		out = append(out,
			diff.Edge{First: diff.Match{Action: plan.Update, Kind: KindListener, Effect: diff.Narrows}, Then: step(plan.Create, public),
				Reason: "the ranges of an internal load balancer may admit everyone, and are narrowed before it has a public address"},
			diff.Edge{First: step(plan.Delete, public), Then: diff.Match{Action: plan.Update, Kind: KindListener, Effect: diff.Widens},
				Reason: "the ranges of a load balancer are widened after it has lost its public address"},
			diff.Edge{First: clients(diff.Narrows), Then: step(plan.Create, public),
				Reason: "the rules for an internal load balancer may admit everyone, and are deleted before it has a public address"},
			diff.Edge{First: step(plan.Delete, public), Then: clients(diff.Widens),
				Reason: "the rules for an internal load balancer are created after it has lost its public address"})
	}
	out = append(out,
		diff.Edge{First: rules(PartAdd), Then: step(plan.Delete, KindListener), Soft: true,
			Reason: "a new port that the nodes do not admit must take no old one away"})
	out = append(out, diff.Exchange(KindListener, rules(PartShut), rules(PartOpen))...)
	out = append(out, diff.Edge{First: rules(PartAdd), Then: step(plan.Update, KindMembers), Soft: true,
		Reason: "nodes admit the traffic at a new node port before the load balancer sends it"})
	return append(out, diff.Edge{First: step(plan.Delete, KindGroupPorts), Then: step(plan.Delete, KindGroup), Reason: "a group that a port has cannot be deleted"})
}

// admitsClients reports whether desired rules of a security group limit the clients.
func admitsClients(r stack.Resource) bool {
	rules, _ := r.Spec.(GroupRules)
	return rules.Clients
}

// containsAll reports whether all desired entries exist; other controllers own the rest.
func containsAll(want, have any) bool {
	wanted, _ := want.([]string)
	found, _ := have.([]string)
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(found, w) })
}

// sameMembers compares members without their subnets, which cannot change.
func sameMembers(want, have any) bool {
	plain := func(list any) []Member {
		members, _ := list.([]Member)
		members = slices.Clone(members)
		for i := range members {
			members[i].Subnet = ""
		}
		slices.SortFunc(members, compareMembers)
		return members
	}
	return slices.Equal(plain(want), plain(have))
}

// sameSet: the cloud keeps no order.
func sameSet(want, have any) bool {
	a, _ := want.([]string)
	b, _ := have.([]string)
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
