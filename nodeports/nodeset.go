package nodeports

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// NodeSet is an immutable set of nodes, sorted by name. Its members have name,
// provider id, zone, addresses, the identity of the machine, and the labels that the
// filter keeps. Other labels, taints and readiness only decide about membership and
// are not kept, so equal digests mean equal members. The zero value is the empty set
// of a cluster without nodes.
type NodeSet struct {
	members  *members
	eligible int
	pending  []string
}

// members is shared by all sets with the same digest.
type members struct {
	nodes  []Node
	digest string
}

// Select returns the nodes that pass the filter. A node without a provider id is
// not a member, because no cloud could identify its machine; it is listed as pending. The order of nodes does not matter; of two nodes
// with one name the first in order counts.
func Select(nodes []Node, f Filter) NodeSet {
	var set NodeSet
	var chosen []Node
	for _, n := range nodes {
		if !f.eligible(n) {
			continue
		}
		set.eligible++
		if f.admits(n) {
			chosen = append(chosen, n)
		}
	}
	// Pending nodes are removed before readiness is checked: a node that cannot be a
	// member must not count as the ready one that excludes Unknown ones.
	var identified []Node
	for _, n := range chosen {
		if n.ProviderID == "" && !f.Everyone {
			set.pending = append(set.pending, n.Name)
			continue
		}
		identified = append(identified, n)
	}
	slices.Sort(set.pending)
	set.pending = slices.Compact(set.pending)
	set.members = newMembers(f.ready(identified), f.Keep)
	return set
}

// newMembers keeps the fields of every node that load balancers use, and the
// requested labels.
func newMembers(nodes []Node, labels []string) *members {
	m := &members{nodes: make([]Node, 0, len(nodes))}
	var kept func(string) bool
	if len(labels) > 0 {
		kept = func(key string) bool { return slices.Contains(labels, key) }
	}
	for _, n := range nodes {
		m.nodes = append(m.nodes, Node{
			Name: n.Name, ProviderID: n.ProviderID, Zone: n.Zone, UID: n.UID, BootID: n.BootID,
			Internal: slices.Clone(n.Internal), External: slices.Clone(n.External),
			Labels: filterLabels(n.Labels, kept),
		})
	}
	slices.SortStableFunc(m.nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	m.nodes = slices.CompactFunc(m.nodes, func(a, b Node) bool { return a.Name == b.Name })
	d := newDigest()
	for _, n := range m.nodes {
		d.text(n.Name, n.ProviderID, n.Zone, n.UID, n.BootID)
		d.addrs(n.Internal)
		d.addrs(n.External)
		if kept != nil {
			d.number(len(n.Labels))
		}
		for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
			d.text(key, n.Labels[key])
		}
	}
	m.digest = d.sum()
	return m
}

// Len returns the number of members.
func (s NodeSet) Len() int {
	if s.members == nil {
		return 0
	}
	return len(s.members.nodes)
}

// All yields the members by name. The nodes' slices must not be written to.
func (s NodeSet) All() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for i := range s.Len() {
			if !yield(s.members.nodes[i]) {
				return
			}
		}
	}
}

// Names returns the members' names, sorted.
func (s NodeSet) Names() []string {
	names := make([]string, 0, s.Len())
	for n := range s.All() {
		names = append(names, n.Name)
	}
	return names
}

// Get returns a member by name.
func (s NodeSet) Get(name string) (Node, bool) {
	if s.members == nil {
		return Node{}, false
	}
	i, ok := slices.BinarySearchFunc(s.members.nodes, name, func(n Node, name string) int { return cmp.Compare(n.Name, name) })
	if !ok {
		return Node{}, false
	}
	return s.members.nodes[i], true
}

// Eligible returns the number of nodes that belong behind load balancers before
// filtering, pending ones included.
func (s NodeSet) Eligible() int { return s.eligible }

// FilteredOut reports whether the set is empty although eligible nodes exist: the
// cause is the filter or the pending nodes, not the cluster. The last members of a
// load balancer are not deregistered for that reason.
func (s NodeSet) FilteredOut() bool { return s.Len() == 0 && s.eligible > 0 }

// Pending returns, sorted, the nodes that pass the filter and have no provider id
// yet.
func (s NodeSet) Pending() []string { return slices.Clone(s.pending) }

// CameBack returns, sorted, the members that were members before and are other
// machines now, or were restarted: a cloud that identifies machines by name may have
// removed the old ones.
func (s NodeSet) CameBack(before NodeSet) []string {
	var names []string
	for n := range s.All() {
		if old, ok := before.Get(n.Name); ok && n.CameBack(old) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Digest returns a short hash of the members, and of FilteredOut, which changes the
// meaning of an empty set. The number of eligible nodes and the pending ones
// are left out: they change no load balancer.
func (s NodeSet) Digest() string {
	if s.members == nil {
		return newDigest().sum()
	}
	if s.FilteredOut() {
		d := newDigest()
		d.text("filtered out")
		return d.sum()
	}
	return s.members.digest
}

// Equal reports whether both have the same digest.
func (s NodeSet) Equal(o NodeSet) bool { return s.Digest() == o.Digest() }
