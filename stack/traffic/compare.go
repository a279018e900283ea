package traffic

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/stack"
)

// Difference is what changes for clients from one set of flows to another.
type Difference struct {
	Lost, Gained []Flow
	Changed      []Change
}

// Change is a flow that exists before and after, and differs.
type Change struct{ Before, After Flow }

// Compare returns the difference between two sets of flows. Flows meet by identifier, else
// by owner, family, port, protocol and the resource that clients connect to: the address
// of a desired flow is not known before the cloud has chosen it.
func Compare(before, after []Flow) Difference {
	before, after = Merge(before), Merge(after)
	var d Difference
	byID, byEntry := map[ID]int{}, map[entry][]int{}
	for i, f := range after {
		byID[f.ID()] = i
		byEntry[entryOf(f)] = append(byEntry[entryOf(f)], i)
	}
	taken := make([]bool, len(after))
	partner := make([]int, len(before))
	for i, f := range before {
		partner[i] = -1
		if at, ok := byID[f.ID()]; ok {
			partner[i], taken[at] = at, true
		}
	}
	for i, f := range before {
		if partner[i] < 0 && entryOf(f).key != (stack.Key{}) {
			for _, at := range byEntry[entryOf(f)] {
				if partner[i] < 0 && !taken[at] {
					partner[i], taken[at] = at, true
				}
			}
		}
		switch at := partner[i]; {
		case at < 0:
			d.Lost = append(d.Lost, f)
		case !sameFlow(f, after[at]):
			d.Changed = append(d.Changed, Change{f, after[at]})
		}
	}
	for i, f := range after {
		if !taken[i] {
			d.Gained = append(d.Gained, f)
		}
	}
	return d
}

// entry is what a flow is met by where its address is not known.
type entry struct {
	id  ID
	key stack.Key
}

func entryOf(f Flow) entry {
	e := entry{id: f.ID()}
	e.id.Address = ""
	if len(f.Through) > 0 {
		e.key = f.Through[0]
	}
	return e
}

func sameFlow(f, g Flow) bool {
	return f.Address == g.Address && slices.Equal(f.From, g.From) && slices.Equal(f.To, g.To)
}

// Empty reports whether nothing changes for clients.
func (d Difference) Empty() bool { return len(d.Lost)+len(d.Gained)+len(d.Changed) == 0 }

// Moved reports whether clients must use another address.
func (c Change) Moved() bool { return c.Before.Address != c.After.Address }

// Opened returns the clients that are let in only after the change.
func (c Change) Opened() []netip.Prefix { return Subtract(c.After.From, c.Before.From) }

// Closed returns the clients that are let in only before the change.
func (c Change) Closed() []netip.Prefix { return Subtract(c.Before.From, c.After.From) }

// Added returns the backends that traffic reaches only after the change.
func (c Change) Added() []Backend { return missingFrom(c.After.To, c.Before.To) }

// Removed returns the backends that traffic reaches only before the change.
func (c Change) Removed() []Backend { return missingFrom(c.Before.To, c.After.To) }

// missingFrom returns the backends of the first list that are not in the second.
func missingFrom(in, of []Backend) []Backend {
	var out []Backend
	for _, b := range in {
		if _, there := slices.BinarySearchFunc(of, b, Backend.Compare); !there {
			out = append(out, b)
		}
	}
	return out
}
