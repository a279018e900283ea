package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// slots orders the release of a place before its use. A place that is not released
// cannot be taken: its holder keeps it.
func (c *comparison) slots() {
	for i := range c.steps {
		s := &c.steps[i]
		if !c.takes(*s) {
			continue
		}
		c.blockYounger(*s)
		for _, k := range c.places.inSlot[s.Target.Slot] {
			q := c.have.byKey[k]
			if k == s.ID.Key || q.In != s.Target.In || c.isDeleted(q.In) {
				continue
			}
			going := c.leaving(q)
			s.Needs = append(s.Needs, going...)
			for _, id := range going {
				c.leaves = append(c.leaves, departure{step: id, place: i})
			}
			if len(going) == 0 {
				c.block(s.ID, plan.BySlot, s.Target.Slot+" is taken by "+k.String()+", which stays")
			}
		}
	}
}

// departure is a step that leaves a place, for the one that takes it.
type departure struct {
	step  plan.StepID
	place int // among the steps, of the one that takes the place
}

// leaveLate orders deletions that a creation needs behind everything else that it needs:
// if one of these steps is refused, nothing has been deleted. Steps that need one of the
// deletions are not waited for.
func (c *comparison) leaveLate() {
	var graph *plan.Graph
	for _, l := range c.leaves {
		if len(c.steps[l.place].Needs)+len(c.steps[l.place].Behind) < 2 {
			continue
		}
		if graph == nil {
			graph = plan.NewGraph(c.steps)
		}
		at, ok := graph.At(l.step)
		if !ok || l.step.Action != plan.Delete {
			continue
		}
		if c.behind(graph, c.goingWith(graph, at), graph.Needs[l.place]) {
			graph = nil
		}
	}
}

// goingWith returns a deletion, others that make room for the same resource, and the deletions
// that these need, by their place.
func (c *comparison) goingWith(graph *plan.Graph, at int) []int {
	out := []int{at}
	for i, s := range c.steps {
		if pair := s.Pair; i != at && pair.Restore && pair.Delete == s.ID && pair.Create == c.steps[at].Pair.Create {
			out = append(out, i)
		}
	}
	for i, before := range graph.Before(out)[:graph.Steps] {
		if before && !slices.Contains(out, i) && c.steps[i].ID.Action == plan.Delete {
			out = append(out, i)
		}
	}
	return out
}

// behind puts deletions behind the steps that need none of them, and reports whether there
// are any. Of a step that needs one of them it takes what that step needs besides.
func (c *comparison) behind(graph *plan.Graph, deletions, steps []int) (found bool) {
	steps = slices.Clone(steps)
	for at := 0; at < len(steps); at++ {
		need := steps[at]
		if need >= graph.Steps || slices.Contains(deletions, need) {
			continue
		}
		before := graph.Before([]int{need})
		if slices.ContainsFunc(deletions, func(i int) bool { return before[i] }) {
			for _, further := range graph.Needs[need] {
				if !slices.Contains(steps, further) {
					steps = append(steps, further)
				}
			}
			continue
		}
		for _, i := range deletions {
			c.steps[i].Needs = append(c.steps[i].Needs, c.steps[need].ID)
		}
		found = true
	}
	return found
}

// blockYounger blocks a step that takes a place in a shared resource if an older owner
// requests it as well. An owner that has the place is observed there, and keeps it.
func (c *comparison) blockYounger(s plan.Step) {
	if in := c.want.byKey[s.Target.In]; in.Ownership == stack.Owned {
		return
	}
	if o, older := c.ledger.Older(c.owner, s.Target); older {
		c.block(s.ID, plan.BySlot, s.Target.Slot+" is asked for by "+o.String()+" as well, which is older")
	}
}

// takes reports whether the step takes a place that its resource did not have.
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
