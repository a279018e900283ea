package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// places says where things are among the steps and the found resources, so that
// ordering a thousand steps does not look through all of them for each.
type places struct {
	ofKey map[stack.Key][]int // steps by the key of their resource
	refs  [][]stack.Ref       // of each step's resource

	refers map[stack.Key][]stack.Key // found resources that refer to a key,
	byID   map[string][]stack.Key    // or to an identifier
	parts  map[stack.Key][]stack.Key // found resources that are In one
	inSlot map[string][]stack.Key    // found resources by the slot they have
}

func placesOf(steps []plan.Step, have resources) *places {
	p := &places{
		ofKey: map[stack.Key][]int{}, refs: make([][]stack.Ref, len(steps)),
		refers: map[stack.Key][]stack.Key{}, byID: map[string][]stack.Key{}, parts: map[stack.Key][]stack.Key{}, inSlot: map[string][]stack.Key{},
	}
	for i, s := range steps {
		p.ofKey[s.ID.Key] = append(p.ofKey[s.ID.Key], i)
		p.refs[i] = stack.Refs(s.Target.Spec)
	}
	for _, k := range have.keys {
		q := have.byKey[k]
		p.parts[q.In] = append(p.parts[q.In], k)
		p.inSlot[q.Slot] = append(p.inSlot[q.Slot], k)
		for _, ref := range stack.Refs(q.Spec) {
			p.refers[ref.To] = append(p.refers[ref.To], k)
			p.byID[ref.ID] = append(p.byID[ref.ID], k)
		}
	}
	return p
}

// users are the keys of the found resources that refer to one, or are In it.
func (p *places) users(of stack.Resource) []stack.Key {
	out := slices.Clone(p.refers[of.Key])
	if of.ID != "" {
		out = append(out, p.byID[of.ID]...)
	}
	out = slices.DeleteFunc(out, func(k stack.Key) bool { return k == of.Key })
	out = append(out, p.parts[of.Key]...)
	slices.SortFunc(out, stack.Key.Compare)
	return slices.Compact(out)
}
