package model

import (
	"fmt"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// KindCapacity is the reserved capacity of a load balancer, in which it is inherent.
const KindCapacity stack.Kind = "capacity-reservation"

// Capacity is the minimum capacity of a load balancer; 0 means none, observed and desired.
type Capacity struct {
	Units int32
}

func capacityPart() part {
	return part{
		kind:  KindCapacity,
		rule:  diff.Rule{Within: diff.Within{Inherent: true, Default: func(stack.Resource) stack.Spec { return Capacity{} }}},
		asked: func(in input) bool { _, _, said := capacityKey.Lookup(in.Values); return said },
		want: func(f *controlled) {
			if units, _, said := capacityKey.Lookup(f.in.Values); said {
				f.put(KindCapacity, f.balancer.Name, f.balancer, Capacity{Units: int32(units)})
			}
		},
		yield: func(f *controlled) {
			units, from, said := capacityKey.Lookup(f.in.Values)
			found, ok := stack.SpecOf[Capacity](f.have, stack.Key{Kind: KindCapacity, Name: f.balancer.Name})
			f.yields(from, said && ok && found.Units != int32(units), fmt.Sprintf("CapacityUnits=%d", found.Units))
		},
	}
}
