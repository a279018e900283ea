package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// poolFor is the name of the pool of a family: one for all Services. Only where
// there are several load balancers, Services with traffic policy Local have one
// of their own.
func (b *builder) poolFor(family corev1.IPFamily) string {
	if len(b.in.Config.Multi) > 0 && nodeports.LocalOnly(b.in.Service) {
		return LocalPoolName(b.in.Owner, family)
	}
	return PoolName(b.cluster, family)
}

// pool wants the pool of a family with all nodes in it. All Services want the
// same, so they share it.
func (b *builder) pool(family corev1.IPFamily) {
	name := b.poolFor(family)
	if b.in.Config.FilledByOthers(b.in.Kind) || !slices.Contains(b.entries.Pools, name) {
		return
	}
	key, in := PoolKey(b.lb, name), BalancerKey(b.lb)
	pool := Pool{Group: b.in.Config.GroupOfBalancers(), Balancer: b.lb, Name: name}
	if b.in.Config.PoolType == PoolNodeIP {
		pool.Network = b.in.Config.networkID()
		pool.Addresses = b.poolAddresses(key, family)
		b.out.Put(stack.Resource{Key: key, In: in, Ownership: stack.Shared, Spec: pool})
		return
	}
	b.out.Put(stack.Resource{Key: key, In: in, Ownership: stack.Shared, Spec: pool})
	b.machines(name)
}

// poolAddresses are the nodes' addresses. A pool that would lose all of them
// keeps those it has until the cause is plain.
func (b *builder) poolAddresses(key stack.Key, family corev1.IPFamily) []PoolAddress {
	var out []PoolAddress
	runs := b.runs(key, family)
	for n := range b.nodes() {
		if a, ok := n.Address(family); ok && runs(n) {
			out = append(out, PoolAddress{Name: n.Name, IP: a.String()})
		}
	}
	slices.SortFunc(out, PoolAddress.Compare)
	if had, ok := b.have.Get(key); ok && len(out) == 0 && b.in.Backends.Nodes.FilteredOut() {
		if spec, ok := had.Spec.(Pool); ok {
			return spec.Addresses
		}
	}
	return out
}

// nodes returns the nodes that may be on the load balancer of the Service: with several
// load balancers, each node is on one of them.
func (b *builder) nodes() func(func(nodeports.Node) bool) {
	if len(b.in.Config.Multi) == 0 {
		return b.in.Backends.Nodes.All()
	}
	on := b.shareOut().on
	return func(yield func(nodeports.Node) bool) {
		for n := range b.in.Backends.Nodes.All() {
			if strings.EqualFold(on[n.Name], strings.TrimSuffix(lowerCase(b.lb), suffixInternal)) && !yield(n) {
				return
			}
		}
	}
}

// machines wants the network interfaces of nodes and their scale sets in a pool.
func (b *builder) machines(pool string) {
	ref, in := stack.RefTo(PoolKey(b.lb, pool)), BalancerKey(b.lb)
	nics := NICs{Pool: ref}
	sets := map[string]ScaleSet{}
	var unknown, out []string
	for n := range b.in.Backends.Nodes.All() {
		m, ok := b.facts.Machines[lowerCase(n.ProviderID)]
		if !ok {
			unknown = append(unknown, n.Name)
			continue
		}
		if m.Out != "" && !b.isMember(pool, n.Name) {
			out = append(out, n.Name+" ("+m.Out+")")
			continue
		}
		set := ScaleSet{ID: lowerCase(m.ScaleSet), Flex: m.Flex, Pool: ref}
		if had, ok := sets[set.ID]; ok {
			set = had
		}
		if m.ScaleSet != "" && !m.Flex {
			set.Instances = append(set.Instances, Instance{Node: n.Name, ID: m.Instance})
		} else if m.NIC != "" {
			nics.Members = append(nics.Members, NIC{Node: n.Name, ID: lowerCase(m.NIC)})
		}
		if m.ScaleSet != "" {
			sets[set.ID] = set
		}
	}
	b.tellOut(unknown, out)
	b.keepMembers(pool, &nics, sets, len(unknown) > 0)
	slices.SortFunc(nics.Members, func(a, c NIC) int { return cmp.Compare(a.ID, c.ID) })
	if len(nics.Members) > 0 {
		b.out.Put(stack.Resource{Key: NICsKey(b.lb, pool), In: in, Ownership: stack.Shared, Spec: nics})
	}
	for id, set := range sets {
		slices.SortFunc(set.Instances, func(a, c Instance) int { return cmp.Compare(a.ID, c.ID) })
		b.out.Put(stack.Resource{Key: ScaleSetKey(b.lb, pool, id), In: in, Ownership: stack.Shared, Spec: set})
	}
}

func (b *builder) tellOut(unknown, out []string) {
	if len(unknown) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "have machines that Azure does not know: "+shortList(unknown)+", so they get no traffic", "", annotations.Warning))
	}
	if len(out) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "cannot join now: "+shortList(out), "", annotations.Warning))
	}
}

// isMember reports whether a node is in a pool.
func (b *builder) isMember(pool, node string) bool {
	for _, r := range b.members(pool) {
		switch spec := r.Spec.(type) {
		case NICs:
			if slices.ContainsFunc(spec.Members, func(n NIC) bool { return n.Node == node }) {
				return true
			}
		case ScaleSet:
			if slices.ContainsFunc(spec.Instances, func(i Instance) bool { return i.Node == node }) {
				return true
			}
		}
	}
	return false
}

// members are what was found in a pool.
func (b *builder) members(pool string) []stack.Resource {
	var out []stack.Resource
	prefix := PoolKey(b.lb, pool).Name
	if r, ok := b.have.Get(NICsKey(b.lb, pool)); ok {
		out = append(out, r)
	}
	for _, r := range b.have.Of(KindScaleSet) {
		if strings.HasPrefix(r.Key.Name, prefix+"/") {
			out = append(out, r)
		}
	}
	return out
}

// keepMembers retains the models of scale sets that have no node at present: machines that
// they create later are created with the pool. If no member would remain although there are
// nodes, all members are retained until the cause is found.
func (b *builder) keepMembers(pool string, nics *NICs, sets map[string]ScaleSet, unknown bool) {
	none := len(nics.Members) == 0
	for _, s := range sets {
		none = none && len(s.Instances) == 0
	}
	keepAll := none && (unknown || b.in.Backends.Nodes.FilteredOut())
	for _, r := range b.members(pool) {
		switch spec := r.Spec.(type) {
		case ScaleSet:
			id := lowerCase(spec.ID)
			if _, wanted := sets[id]; wanted && !keepAll {
				continue
			}
			kept := ScaleSet{ID: id, Flex: spec.Flex, Pool: nics.Pool}
			if keepAll {
				kept.Instances = spec.Instances
			}
			sets[id] = kept
		case NICs:
			if keepAll {
				nics.Members = spec.Members
			}
		}
	}
}

// shortList shows the first names of a list and counts the others.
func shortList(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + " and others"
}

// nodeAddresses are destinations while floating IP is off.
func (b *builder) nodeAddresses(family corev1.IPFamily) []string {
	var out []string
	if !slices.Contains(b.families, family) {
		return nil
	}
	for n := range b.nodes() {
		if a, ok := n.Address(family); ok {
			out = append(out, a.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
