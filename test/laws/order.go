package laws

import (
	"encoding/binary"
	"slices"

	"github.com/berth-lb/berth/stack/plan"
)

// orderKey says in which order the steps of a plan are performed.
type orderKey struct {
	order Order
	first plan.StepID
}

// ordering is the steps of a plan in an order. Orders with the same result are one value.
type ordering struct {
	steps  []plan.Step
	places string // of the steps in the plan
}

// ordered returns the steps of a plan in the order of the scenario.
func (x *run) ordered(p *planned) *ordering {
	key := orderKey{x.scenario.Order, x.scenario.First}
	known := p.orders[key]
	if known == nil {
		known = p.newOrdering(key)
		p.orders[key] = known
	}
	return known
}

// newOrdering puts the steps into the order in which they are to be performed where their
// needs allow it.
func (p *planned) newOrdering(key orderKey) *ordering {
	steps := p.plan.Steps
	places := make([]int, len(steps))
	for i := range places {
		places[i] = i
	}
	switch key.order {
	case Planned:
	case DeletesFirst:
		slices.SortStableFunc(places, func(a, b int) int { return rankOf(steps[a]) - rankOf(steps[b]) })
	case Reverse:
		slices.Reverse(places)
	}
	if first := slices.IndexFunc(steps, func(s plan.Step) bool { return s.ID == key.first }); first >= 0 {
		before := plan.NewGraph(steps).Before([]int{first})
		isEarly := func(i int) bool { return i == first || before[i] }
		var early, late []int
		for _, i := range places {
			if isEarly(i) {
				early = append(early, i)
			} else {
				late = append(late, i)
			}
		}
		places = slices.Concat(early, late)
	}
	out := &ordering{steps: make([]plan.Step, len(steps))}
	name := make([]byte, 0, 2*len(steps))
	for i, at := range places {
		out.steps[i] = steps[at]
		name = binary.LittleEndian.AppendUint16(name, uint16(at)) // #nosec G115 -- plans of the laws are short
	}
	out.places = string(name)
	return out
}

func rankOf(s plan.Step) int {
	return slices.Index([]plan.Action{plan.Delete, plan.Forget, plan.Update, plan.Create}, s.ID.Action)
}
