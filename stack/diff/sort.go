package diff

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// sorted puts the steps into an order that respects their needs, otherwise in
// the order of their identifiers. Steps that need each other, and those behind
// them, come last; the former are held, the latter then are with them.
func (c *comparison) sorted() []plan.Step {
	slices.SortFunc(c.steps, func(a, b plan.Step) int { return a.ID.Compare(b.ID) })
	graph := plan.NewGraph(c.steps)
	order := graph.Sorted()
	out := make([]plan.Step, 0, len(c.steps))
	placed := make([]bool, len(c.steps))
	for _, i := range order {
		out = append(out, c.steps[i])
		placed[i] = true
	}
	if len(out) == len(c.steps) {
		return out
	}
	for _, circle := range graph.Circles() {
		c.holdCircle(circle)
	}
	for i, s := range c.steps {
		if !placed[i] {
			out = append(out, s)
		}
	}
	return out
}

// holdCircle holds steps that wait for each other: none of them could ever run.
// The others go on.
func (c *comparison) holdCircle(steps []int) {
	ids := make([]string, len(steps))
	for i, step := range steps {
		ids[i] = c.steps[step].ID.String()
	}
	for _, step := range steps {
		if id := c.steps[step].ID; !c.blocked[id].Blocked {
			c.block(id, plan.ByCycle, "these steps wait for each other, so that none can be the first; please report it as a defect: "+strings.Join(ids, ", "))
		}
	}
}
