package diff

import (
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// slots lets a place be left before it is taken. A place that nobody leaves
// cannot be taken: the one who is there keeps it.
func (c *comparison) slots() {
	for i := range c.steps {
		s := &c.steps[i]
		if !c.takes(*s) {
			continue
		}
		c.yield(*s)
		for _, k := range c.places.inSlot[s.Target.Slot] {
			q := c.have.byKey[k]
			if k == s.ID.Key || q.In != s.Target.In || c.goes(q.In) {
				continue
			}
			going := c.leaving(q)
			s.Needs = append(s.Needs, going...)
			for _, id := range going {
				c.leaves = append(c.leaves, leaving{step: id, place: i})
			}
			if len(going) == 0 {
				c.block(s.ID, plan.BySlot, s.Target.Slot+" is taken by "+k.String()+", which stays")
			}
		}
	}
}

// leaving is a step that leaves a place, for the one that takes it.
type leaving struct {
	step  plan.StepID
	place int // among the steps, of the one that takes the place
}

// leaveLate puts behind all that a creation needs what has to go for it: if any of that is
// refused, nothing has gone. What needs the place to be left itself is not waited for.
func (c *comparison) leaveLate() {
	var graph *plan.Graph
	for _, l := range c.leaves {
		del := c.find(l.step)
		if del == nil || del.ID.Action != plan.Delete || len(c.steps[l.place].Needs)+len(c.steps[l.place].Behind) < 2 {
			continue
		}
		if graph == nil {
			graph = plan.NewGraph(c.steps)
		}
		at, _ := graph.At(l.step)
		for _, need := range graph.Needs[l.place] {
			if need == at || need >= graph.Steps || graph.Before([]int{need})[at] {
				continue
			}
			del.Needs = append(del.Needs, c.steps[need].ID)
			graph = plan.NewGraph(c.steps)
		}
	}
}

// yield holds a step that takes a place in something shared for which an older owner asks
// as well. Who has a place is found there, and keeps it.
func (c *comparison) yield(s plan.Step) {
	if in := c.want.byKey[s.Target.In]; in.Ownership == stack.Owned {
		return
	}
	if o, older := c.ledger.Older(c.owner, s.Target); older {
		c.block(s.ID, plan.BySlot, s.Target.Slot+" is asked for by "+o.String()+" as well, which is older")
	}
}

// takes tells whether the step takes a place that its resource did not have.
func (c *comparison) takes(s plan.Step) bool {
	switch {
	case s.Target.Slot == "":
		return false
	case s.ID.Action == plan.Create:
		return true
	default:
		return s.ID.Action == plan.Update && c.have.byKey[s.ID.Key].Slot != s.Target.Slot
	}
}

// leaving lists the steps by which a found resource leaves its place.
func (c *comparison) leaving(q stack.Resource) []plan.StepID {
	var out []plan.StepID
	for _, s := range c.stepsOf(q.Key) {
		moves := s.ID.Action == plan.Update && s.Target.Slot != q.Slot
		if s.ID.Action == plan.Delete || moves {
			out = append(out, s.ID)
		}
	}
	return out
}
