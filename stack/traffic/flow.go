package traffic

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Family is the version of IP of an entry point.
type Family string

// The families.
const (
	IPv4 Family = "IPv4"
	IPv6 Family = "IPv6"
)

// FamilyOf returns the family of an address.
func FamilyOf(a netip.Addr) Family {
	if a.Unmap().Is4() {
		return IPv4
	}
	return IPv6
}

// Flow is what one port of one address lets through: clients from From reach Port at
// Address, which forwards to To.
type Flow struct {
	Owner stack.Owner
	// Address is the literal address or cloud id where it is known, else the text of the
	// key of the resource that will have it.
	Address  string
	Family   Family
	Port     uint16
	Protocol string // TCP, UDP or SCTP
	// From lists the ranges that clients may come from. Empty: no one.
	From []netip.Prefix
	// To lists the backends that traffic reaches. Empty: the port is open, but nothing
	// behind it answers.
	To []Backend
	// Through lists every resource that the flow needs, the one that clients connect to
	// first.
	Through []stack.Key
}

// Backend is a port of a node or pod.
type Backend struct {
	Name string // name of the node, or address of the pod
	Port uint16
}

// Compare orders backends by name and port.
func (b Backend) Compare(o Backend) int {
	return cmp.Or(strings.Compare(b.Name, o.Name), cmp.Compare(b.Port, o.Port))
}

// Func computes what the stacks of all owners of a cluster let through, desired or observed.
type Func func(world []*stack.Stack) []Flow

// ID tells flows apart: one port of one address of one owner.
type ID struct {
	Owner    stack.Owner
	Address  string
	Family   Family
	Port     uint16
	Protocol string
}

// ID returns what tells the flow apart from others.
func (f Flow) ID() ID { return ID{f.Owner, f.Address, f.Family, f.Port, f.Protocol} }

// Compare orders identifiers by owner, address, family, port and protocol.
func (i ID) Compare(o ID) int {
	return cmp.Or(i.Owner.Compare(o.Owner), strings.Compare(i.Address, o.Address), strings.Compare(string(i.Family), string(o.Family)),
		cmp.Compare(i.Port, o.Port), strings.Compare(i.Protocol, o.Protocol))
}

// Serves reports whether clients get an answer: some may come, and backends are behind.
func (f Flow) Serves() bool { return len(f.From) > 0 && len(f.To) > 0 }

// Of returns the flows of an owner.
func Of(owner stack.Owner, flows []Flow) []Flow {
	var out []Flow
	for _, f := range flows {
		if f.Owner == owner {
			out = append(out, f)
		}
	}
	return out
}

// Merge returns the flows in order, one per identifier: where several have the same one,
// clients and backends of all of them. Flows without clients are left out.
func Merge(flows []Flow) []Flow {
	order := make([]int, 0, len(flows))
	for i := range flows {
		if len(flows[i].From) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return flows[a].ID().Compare(flows[b].ID()) })
	var out []Flow
	for len(order) > 0 {
		same := 1
		for same < len(order) && flows[order[same]].ID() == flows[order[0]].ID() {
			same++
		}
		out = append(out, joinFlows(flows, order[:same]))
		order = order[same:]
	}
	return out
}

// joinFlows returns the flows at some places, which have one identifier, as one.
func joinFlows(flows []Flow, places []int) Flow {
	f := flows[places[0]]
	if len(places) == 1 {
		f.From, f.To = Union(f.From), sortedBackends(f.To)
		return f
	}
	from := [][]netip.Prefix{f.From}
	f.To, f.Through = slices.Clone(f.To), slices.Clone(f.Through)
	for _, at := range places[1:] {
		with := &flows[at]
		if !slices.Equal(from[len(from)-1], with.From) {
			from = append(from, with.From)
		}
		f.To = append(f.To, with.To...)
		for _, k := range with.Through {
			if !slices.Contains(f.Through, k) {
				f.Through = append(f.Through, k)
			}
		}
	}
	f.From, f.To = Union(from...), sortedBackends(f.To)
	return f
}

// sortedBackends returns the backends in order, each once.
func sortedBackends(in []Backend) []Backend {
	inOrder := true
	for i := 1; i < len(in) && inOrder; i++ {
		inOrder = in[i-1].Compare(in[i]) < 0
	}
	if inOrder {
		return in
	}
	out := slices.Clone(in)
	slices.SortFunc(out, Backend.Compare)
	return slices.Compact(out)
}
