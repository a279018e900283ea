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
// long: it is a table, and reads best in one piece.
func Rules() diff.Rules {
	kinds := balancerRules()
	maps.Copy(kinds, otherRules())
	maps.Copy(kinds, podRules())
	return diff.Rules{Kinds: kinds, Edges: slices.Concat(edges(), podEdges())}
}

// balancerRules are for what is in load balancers.
func balancerRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindEntries: {
			// One PUT writes all of it, so there are no parts.
			Ignore: []string{"Group", "Balancer", "Pools", "Expect"},
			Equal: map[string]diff.Equal{
				"Frontends": sameFrontends, "Rules": sameRules, "Probes": sameProbes, "Tags": sameTagValues,
			},
			Clash:  diff.Returned,
			Role:   diff.EntryPoint,
			Single: true, // a Service is on one load balancer; leaving another one is a switch
			Batch:  balancerBatch,
			Impact: map[string]plan.Impact{"Frontends": plan.Brief, "delete": plan.Interrupts},
		},
		KindPool: {
			FollowsBackends: true,
			Ignore:          []string{"Group", "Balancer", "Name", "Network"},
			Sets:            map[string]diff.Set{"Addresses": {}},
			Clash:           diff.Returned,
			Batch:           balancerBatch,
		},
		KindNICs: {
			FollowsBackends: true,
			Ignore:          []string{"Pool"},
			Sets:            map[string]diff.Set{"Members": {}},
			Clash:           diff.Returned,
			Batch:           func(stack.Resource, plan.Action, string) string { return "nics" },
		},
		KindScaleSet: {
			FollowsBackends: true,
			Ignore:          []string{"ID", "Flex", "Pool"},
			Sets:            map[string]diff.Set{"Instances": {}},
			Clash:           diff.Returned,
			Batch:           scaleSetBatch,
		},
	}
}

// otherRules are for what stands alone, and for the security group.
func otherRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindPublicIP: {
			// The name follows from version and prefix. Zones are immutable, and the zones
			// of an existing address are accepted. Build handles immutable ipTags.
			Ignore: []string{"Group", "Name", "Version", "Prefix", "Zones", "Address", "SKU", "Services"},
			Equal:  map[string]diff.Equal{"Tags": sameTagValues, "IPTags": sameIPTags},
			Sticky: []string{"Address", "SKU", "Services"},
			Clash:  diff.Returned,
			Batch:  publicIPBatch,
			Impact: map[string]plan.Impact{"delete": plan.Interrupts},
		},
		KindBinding: {
			// It is deleted with its address, and retained with an address that is held.
			Within: diff.Within{Inline: true, Cascade: true},
			Ignore: []string{"PublicIP"},
			Equal:  map[string]diff.Equal{"DNSLabel": sameLabel},
			Clash:  diff.Returned,
			Batch:  publicIPBatch,
		},
		KindAccess: {
			FollowsBackends: true, // without floating addresses it names those of the nodes
			// The key is the content.
			Ignore: []string{"Group", "Security", "Rule", "Deny", "Family", "Protocol", "Sources", "Ports", "Destination", "Rank", "Alone"},
			Clash:  diff.Returned,
			Batch:  securityBatch,
		},
		KindLink: {
			Immutable: []string{"On", "Frontend"},
			Ignore:    []string{"Group", "Name", "Entries"},
			Equal:     map[string]diff.Equal{"On": samePlace, "Tags": sameTagValues, "IPs": sameLinkIPs, "Frontend": diff.SameFold},
			Replace:   diff.DeleteFirst,
			Restore:   true,
			Clash:     diff.Returned,
			Impact:    map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts},
		},
		KindPolicy: {Ignore: []string{"Group", "Network", "Subnet"}, Clash: diff.Returned},
	}
}

// edges are the orders that no reference says.
func edges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	var out []diff.Edge
	add := func(first, then diff.Match, same bool, reason string) {
		out = append(out, diff.Edge{First: first, Then: then, Same: same, Reason: reason})
	}
	add(step(plan.Create, KindEntries), step(plan.Create, KindPool), true, "the load balancer is made with the first entries, the pool by name with them")
	add(step(plan.Update, KindEntries), step(plan.Create, KindPool), true, "the pool is made by name with the rules that need it, in their PUT")
	add(step(plan.Create, KindEntries), step(plan.Delete, KindEntries), false, "the new load balancer serves before the old one is left")
	add(step(plan.Create, KindEntries), step(plan.Delete, KindNICs), false, "the new load balancer serves before the old one is left")
	add(step(plan.Create, KindEntries), step(plan.Delete, KindScaleSet), false, "the new load balancer serves before the old one is left")
	add(step(plan.Delete, KindNICs), step(plan.Delete, KindEntries), true, "a load balancer with machines in it cannot be deleted with its last frontend")
	add(step(plan.Delete, KindScaleSet), step(plan.Delete, KindEntries), true, "a load balancer with machines in it cannot be deleted with its last frontend")
	for _, write := range []plan.Action{plan.Create, plan.Update} {
		out = append(out, diff.Edge{First: step(write, KindPool), Then: step(plan.Delete, KindEntries), Soft: true, Reason: "the old load balancer is left once machines are behind the new one"})
	}
	for _, members := range []stack.Kind{KindNICs, KindScaleSet} {
		add(step(plan.Create, KindEntries), step(plan.Create, members), true, "machines join a pool that is there")
	}
	for _, write := range []plan.Action{plan.Update, plan.Delete} {
		add(step(write, KindEntries), step(plan.Delete, KindPool), true, "a pool goes when no rule sends to it any more")
	}
	for _, switched := range []plan.Action{plan.Create, plan.Update} {
		add(step(switched, KindEntries), step(plan.Create, KindAccess), false, "the rule that needs it is the evidence that the entry is ours")
		add(step(switched, KindEntries), step(plan.Delete, KindAccess), false, "the old address is open until the new one serves")
	}
	for _, evidence := range []stack.Kind{KindPublicIP, KindBinding} {
		add(step(plan.Delete, KindAccess), step(plan.Delete, evidence), false, "the owner of the address is the evidence that the entry is ours")
	}
	allows, denies := step(plan.Delete, KindAccess), step(plan.Delete, KindAccess)
	allows.Where = func(r stack.Resource) bool { return !deniesAlone(r) }
	denies.Where = deniesAlone
	add(allows, step(plan.Delete, KindEntries), false, "the owner of the address is the evidence that the entry is ours")
	add(step(plan.Delete, KindEntries), denies, false, "without the entry that denies, the network would reach the frontend; without the frontend, the address is in no use, which is the evidence")
	add(step(plan.Create, KindAccess), step(plan.Delete, KindAccess), false, "traffic that is allowed before and after must be allowed in between")
	add(step(plan.Delete, KindLink), step(plan.Update, KindEntries), false, "a frontend cannot move while a private link service hangs on it")
	add(step(plan.Update, KindEntries), step(plan.Create, KindLink), false, "a private link service is made on the frontend as it will be")
	return out
}

// deniesAlone reports whether an entry of the security group denies an address that only its
// Service has.
func deniesAlone(r stack.Resource) bool {
	a, ok := r.Spec.(Access)
	return ok && a.Deny && a.Alone
}

func balancerBatch(r stack.Resource, _ plan.Action, _ string) string {
	switch spec := r.Spec.(type) {
	case Entries:
		return "lb/" + spec.Group + "/" + lower(spec.Balancer)
	case Pool:
		return "lb/" + spec.Group + "/" + lower(spec.Balancer)
	}
	return ""
}

func publicIPBatch(r stack.Resource, _ plan.Action, _ string) string { return "pip/" + r.Key.Name }

func scaleSetBatch(r stack.Resource, _ plan.Action, _ string) string {
	if s, ok := r.Spec.(ScaleSet); ok {
		return "vmss/" + lower(s.ID)
	}
	return ""
}

func securityBatch(r stack.Resource, _ plan.Action, _ string) string { return "nsg/" + r.In.Name }

// samePointwise compares sorted lists member by member.
func samePointwise[T any](want, have any, same func(T, T) bool) bool {
	w, _ := want.([]T)
	h, _ := have.([]T)
	return slices.EqualFunc(w, h, same)
}

func sameFrontends(want, have any) bool { return samePointwise(want, have, sameFrontend) }
func sameRules(want, have any) bool     { return samePointwise(want, have, sameRule) }
func sameProbes(want, have any) bool    { return samePointwise(want, have, sameProbe) }

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
		out[lower(k)] = v
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

// sameLinkIPs: names of addresses follow from the name of the service, which
// cannot change; which are given and which are dynamic is what counts.
func sameLinkIPs(want, have any) bool {
	return samePointwise(want, have, func(w, h LinkIP) bool { return w.Address == h.Address && w.Primary == h.Primary })
}
