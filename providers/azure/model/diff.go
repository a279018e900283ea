package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Rules says how resources of every kind are compared and written.
func Rules() diff.Rules {
	kinds := balancerRules()
	maps.Copy(kinds, otherRules())
	maps.Copy(kinds, podRules())
	return diff.Rules{Kinds: kinds, Edges: slices.Concat(orderEdges(), podEdges())}
}

// balancerRules are for what is in load balancers.
func balancerRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindEntries: {
			Fields: diff.Fields{
				// One PUT writes all of it, so there are no parts.
				Ignore: []string{"Group", "Balancer", "Pools", "Expect"},
				Equal: map[string]diff.Equal{
					"Frontends": comparePointwise(sameFrontend), "Rules": comparePointwise(sameRule), "Probes": comparePointwise(sameProbe), "Tags": sameTagValues,
				},
			},
			Clash: diff.Returned,
			Traffic: diff.Traffic{
				Role:   diff.EntryPoint | diff.Port,
				Single: true, // a Service is on one load balancer; leaving another one is a switch
				Impact: map[string]plan.Impact{"Frontends": plan.Brief, "delete": plan.Interrupts},
			},
			Batch: balancerBatch,
		},
		KindPool: {
			Traffic: diff.Traffic{FollowsBackends: true, Role: diff.Members},
			Fields:  diff.Fields{Ignore: []string{"Group", "Balancer", "Name", "Network"}, Sets: map[string]diff.Set{"Addresses": {}}},
			Clash:   diff.Returned,
			Batch:   balancerBatch,
		},
		KindNICs: {
			Traffic: diff.Traffic{FollowsBackends: true, Role: diff.Members},
			Fields:  diff.Fields{Ignore: []string{"Pool"}, Sets: map[string]diff.Set{"Members": {}}},
			Clash:   diff.Returned,
			Batch:   func(stack.Resource, plan.Action, string) string { return "nics" },
		},
		KindScaleSet: {
			Traffic: diff.Traffic{FollowsBackends: true, Role: diff.Members},
			Fields:  diff.Fields{Ignore: []string{"ID", "Flex", "Pool"}, Sets: map[string]diff.Set{"Instances": {}}},
			Clash:   diff.Returned,
			Batch:   scaleSetBatch,
		},
	}
}

// otherRules are for what stands alone, and for the security group.
func otherRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindPublicIP: {
			Fields: diff.Fields{
				// The name follows from version and prefix. Zones are immutable, and the zones
				// of an existing address are accepted. Build handles immutable ipTags.
				Ignore: []string{"Group", "Name", "Version", "Prefix", "Zones", "Address", "SKU", "Services"},
				Equal:  map[string]diff.Equal{"Tags": sameTagValues, "IPTags": sameIPTags},
				Sticky: []string{"Address", "SKU", "Services"},
			},
			Clash:   diff.Returned,
			Batch:   publicIPBatch,
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
		},
		KindBinding: {
			// It is deleted with its address, and retained with an address that is held.
			Within: diff.Within{Inline: true, Cascade: true},
			Fields: diff.Fields{Ignore: []string{"PublicIP"}, Equal: map[string]diff.Equal{"DNSLabel": sameLabel}},
			Clash:  diff.Returned,
			Batch:  publicIPBatch,
		},
		KindAccess: {
			Traffic: diff.Traffic{
				FollowsBackends: true, // without floating addresses it names those of the nodes
				Role:            diff.Admits,
				// Source: cloud-provider-azure v1.34.1, pkg/provider/loadbalancer/accesscontrol.go (RetainSecurityGroup).
				Contested: true,
				WidenLast: followsRule,
			},
			// The key is the content.
			Fields: diff.Fields{Ignore: []string{"Group", "Security", "Rule", "Deny", "Family", "Protocol", "Sources", "Ports", "Destination", "Rank", "Alone"}},
			Clash:  diff.Returned,
			Batch:  securityBatch,
			// A crash at any moment leaves the owner of the address, which is whose the entry is.
			ProvenBy: []stack.Kind{KindPublicIP},
		},
		KindLink: {
			Fields: diff.Fields{
				Immutable: []string{"On", "Frontend"},
				Ignore:    []string{"Group", "Name", "Entries"},
				Equal:     map[string]diff.Equal{"On": samePlace, "Tags": sameTagValues, "IPs": comparePointwise(sameLinkIP), "Frontend": diff.SameFold},
			},
			Replace: diff.DeleteFirst,
			Restore: true,
			Clash:   diff.Returned,
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts}},
		},
		KindPolicy: {Fields: diff.Fields{Ignore: []string{"Group", "Network", "Subnet"}}, Clash: diff.Returned},
	}
}

// orderEdges returns the orders that follow neither from references nor from roles.
func orderEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	var out []diff.Edge
	add := func(first, then diff.Match, same bool, reason string) {
		out = append(out, diff.Edge{First: first, Then: then, Same: same, Reason: reason})
	}
	for _, write := range []plan.Action{plan.Create, plan.Update} {
		add(step(write, KindEntries), step(plan.Create, KindPool), true, "a pool is created by name with the rules that refer to it, in their PUT")
	}
	for _, members := range []stack.Kind{KindNICs, KindScaleSet} {
		add(step(plan.Create, KindEntries), step(plan.Delete, members), false, "the new load balancer serves before the old one loses its machines")
		add(step(plan.Delete, members), step(plan.Delete, KindEntries), true, "a load balancer with machines in it cannot be deleted with its last frontend")
		add(step(plan.Create, KindEntries), step(plan.Create, members), true, "machines can join a pool once it exists")
	}
	out = append(out, diff.Edge{First: step(plan.Update, KindPool), Then: step(plan.Delete, KindEntries), Soft: true, Reason: "the old load balancer is left once machines are behind the new one"})
	for _, write := range []plan.Action{plan.Update, plan.Delete} {
		add(step(write, KindEntries), step(plan.Delete, KindPool), true, "a pool is deleted once no rule refers to it")
	}
	add(step(plan.Delete, KindAccess), step(plan.Delete, KindBinding), false, "the owner in the tags of the address is whose the entry is")
	allow, deny := step("", KindAccess), step("", KindAccess)
	allow.Where = func(r stack.Resource) bool { return !isDenial(r) }
	deny.Where = isDenial
	do := func(a plan.Action, m diff.Match) diff.Match { m.Action = a; return m }
	add(do(plan.Create, allow), do(plan.Create, deny), false, "clients are allowed before all others are denied")
	out = append(out, diff.Edge{First: do(plan.Delete, deny), Then: do(plan.Delete, allow), Soft: true, Reason: "clients are allowed until no others are denied"})
	closes, alone := step(plan.Delete, KindAccess), step(plan.Delete, KindAccess)
	closes.Where = func(r stack.Resource) bool { return !deniesAlone(r) }
	alone.Where = deniesAlone
	add(closes, step(plan.Delete, KindEntries), false, "an address is closed before it is released")
	add(step(plan.Delete, KindEntries), alone, false, "without the entry that denies, the network would reach the frontend")
	add(step(plan.Delete, KindLink), step(plan.Update, KindEntries), false, "a frontend cannot move while a private link service refers to it")
	add(step(plan.Update, KindEntries), step(plan.Create, KindLink), false, "a private link service is created on the frontend in its new place")
	return out
}

func isDenial(r stack.Resource) bool {
	a, ok := r.Spec.(Access)
	return ok && a.Deny
}

// deniesAlone reports whether an entry of the security group denies an address that only its
// Service has.
func deniesAlone(r stack.Resource) bool {
	a, ok := r.Spec.(Access)
	return ok && a.Deny && a.Alone
}

// followsRule reports whether an entry is created after the rule that it is for.
func followsRule(r stack.Resource) bool {
	a, ok := r.Spec.(Access)
	return ok && a.AfterRule
}

func balancerBatch(r stack.Resource, _ plan.Action, _ string) string {
	switch spec := r.Spec.(type) {
	case Entries:
		return "lb/" + spec.Group + "/" + lowerCase(spec.Balancer)
	case Pool:
		return "lb/" + spec.Group + "/" + lowerCase(spec.Balancer)
	}
	return ""
}

func publicIPBatch(r stack.Resource, _ plan.Action, _ string) string { return "pip/" + r.Key.Name }

func scaleSetBatch(r stack.Resource, _ plan.Action, _ string) string {
	if s, ok := r.Spec.(ScaleSet); ok {
		return "vmss/" + lowerCase(s.ID)
	}
	return ""
}

func securityBatch(r stack.Resource, _ plan.Action, _ string) string { return "nsg/" + r.In.Name }

// comparePointwise compares sorted lists member by member.
func comparePointwise[T any](same func(want, have T) bool) diff.Equal {
	return func(want, have any) bool {
		w, _ := want.([]T)
		h, _ := have.([]T)
		return slices.EqualFunc(w, h, same)
	}
}

// sameFrontend compares names and places. Whether an address was given or chosen
// means nothing while it is the right one, and zones cannot change.
func sameFrontend(w, h Frontend) bool {
	if !strings.EqualFold(w.Name, h.Name) || w.PublicIP != h.PublicIP || !SameID(w.Subnet, h.Subnet) {
		return false
	}
	return !w.PublicIP.IsZero() || w.Address == "" || Canonical(w.Address) == Canonical(h.Address)
}

// sameRule compares what the official controller compares, and as loosely: names
// in any case, TCP reset of TCP rules only, and no idle timeout as any. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func sameRule(w, h Rule) bool {
	if w.Protocol != "Tcp" {
		w.TCPReset = h.TCPReset
	}
	if h.IdleTimeout == 0 {
		w.IdleTimeout = 0
	}
	names := strings.EqualFold(w.Name, h.Name) && strings.EqualFold(w.Frontend, h.Frontend) &&
		strings.EqualFold(w.Pool, h.Pool) && strings.EqualFold(w.Probe, h.Probe) && strings.EqualFold(w.Protocol, h.Protocol)
	w.Name, w.Frontend, w.Pool, w.Probe, w.Protocol = h.Name, h.Frontend, h.Pool, h.Probe, h.Protocol
	return names && w == h
}

// sameProbe: paths differ in more than case, which the official controller does
// not see; a probe of the other case asks for another page.
func sameProbe(w, h Probe) bool {
	if strings.EqualFold(w.Protocol, "Tcp") {
		w.Path, h.Path = "", ""
	}
	names := strings.EqualFold(w.Name, h.Name) && strings.EqualFold(w.Protocol, h.Protocol)
	w.Name, w.Protocol = h.Name, h.Protocol
	return names && w == h
}

// sameTags: a value that differs only in case is no difference.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_utils.go.
func sameTags(want, have Tags) bool {
	return maps.EqualFunc(foldKeys(want), foldKeys(have), strings.EqualFold)
}

func foldKeys(t Tags) map[string]string {
	out := make(map[string]string, len(t))
	for k, v := range t {
		out[lowerCase(k)] = v
	}
	return out
}

func sameTagValues(want, have any) bool {
	w, _ := want.(Tags)
	h, _ := have.(Tags)
	return sameTags(w, h)
}

// sameIPTags: nil leaves them as they are.
func sameIPTags(want, have any) bool {
	w, _ := want.(*Tags)
	h, _ := have.(*Tags)
	if w == nil {
		return true
	}
	return h != nil && maps.Equal(*w, *h) || h == nil && len(*w) == 0
}

// sameLabel: nil leaves it alone; labels are host names.
func sameLabel(want, have any) bool {
	w, _ := want.(*string)
	h, _ := have.(*string)
	return w == nil || h != nil && strings.EqualFold(*w, *h)
}

// samePlace: a wanted dynamic address is any.
func samePlace(want, have any) bool {
	w, _ := want.(Place)
	h, _ := have.(Place)
	if w.Address == "" {
		w.Address = h.Address
	}
	return w == h
}

// sameLinkIP: names of addresses follow from the name of the service, which
// cannot change; which are given and which are dynamic is what counts.
func sameLinkIP(w, h LinkIP) bool { return w.Address == h.Address && w.Primary == h.Primary }
