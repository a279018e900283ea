package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// each is how many steps are listed one by one as the needs of another; more of
// them are one barrier, which all waiting steps share.
const each = 8

// edges adds the orders of the rule table.
func (c *comparison) edges() {
	orders := c.rules.orders
	if orders == nil {
		orders = c.rules.Orders()
	}
	kinds := map[stack.Kind]bool{"": true} // an edge without a kind has any
	for _, s := range c.steps {
		kinds[s.ID.Key.Kind] = true
	}
	for _, soft := range []bool{false, true} {
		for i := range orders {
			if e := &orders[i]; e.Soft == soft && kinds[e.First.Kind] && kinds[e.Then.Kind] {
				c.edge(e)
			}
		}
	}
}

func (c *comparison) edge(e *Edge) {
	first, then := group{}, []int{}
	leads := make([]bool, len(c.steps))
	for i := range c.steps {
		if leads[i] = c.leads(e, i); leads[i] {
			first.steps = append(first.steps, i)
		}
		if !c.isAwaited(i) && c.matches(e.Then, &c.steps[i]) {
			then = append(then, i)
		}
	}
	if len(first.steps) == 0 || len(then) == 0 {
		return
	}
	if e.Soft {
		needed := plan.NewGraph(c.steps).Before(first.steps)
		then = slices.DeleteFunc(then, func(i int) bool { return needed[i] || leads[i] })
	}
	related := c.related(e, &first)
	for _, i := range then {
		for _, g := range related(i) {
			c.putBehind(i, g)
			c.noteExchange(e, i, g.steps)
		}
	}
}

// group is steps that others wait for together.
type group struct {
	steps   []int
	barrier *plan.Barrier // made when first needed
}

// putBehind lets a step need all others of a group.
func (c *comparison) putBehind(i int, g *group) {
	s := &c.steps[i]
	if len(g.steps) <= each || slices.Contains(g.steps, i) {
		for _, first := range g.steps {
			if first != i {
				s.Needs = append(s.Needs, c.steps[first].ID)
			}
		}
		return
	}
	if g.barrier == nil {
		g.barrier = &plan.Barrier{}
		for _, first := range g.steps {
			g.barrier.Steps = append(g.barrier.Steps, c.steps[first].ID)
		}
	}
	if !slices.Contains(s.Behind, g.barrier) {
		s.Behind = append(s.Behind, g.barrier)
	}
}

// related returns the first steps of an edge that a step must follow: all or, if the
// edge is limited to one object, the steps whose resource is In the other or the other
// In it, that have the same parent, or of which one refers to the parent of the other.
func (c *comparison) related(e *Edge, first *group) func(int) []*group {
	if !e.Same && !e.routed {
		return func(int) []*group { return []*group{first} }
	}
	byKey, byIn, byRef := groups{}, groups{}, groups{}
	for _, i := range first.steps {
		target := c.steps[i].Target
		byKey.add(target.Key, i)
		byIn.add(target.In, i)
		for _, ref := range c.places.refs[i] {
			byRef.add(ref.To, i)
		}
	}
	if e.routed {
		return func(i int) []*group {
			var out []*group
			for _, ref := range c.places.refs[i] {
				out = append(out, byKey[ref.To], byIn[ref.To])
			}
			if len(c.places.refs[i]) == 0 {
				out = append(out, byIn[c.steps[i].Target.In])
			}
			return slices.DeleteFunc(out, isMissing)
		}
	}
	return func(i int) []*group {
		then := c.steps[i].Target
		out := []*group{byKey[then.In], byIn[then.Key], byIn[then.In], byRef[then.In]}
		for _, ref := range c.places.refs[i] {
			out = append(out, byIn[ref.To])
		}
		return slices.DeleteFunc(out, isMissing)
	}
}

func isMissing(g *group) bool { return g == nil }

// groups are groups of steps by a key. Nothing is known by the zero key.
type groups map[stack.Key]*group

func (g groups) add(k stack.Key, step int) {
	if k == (stack.Key{}) {
		return
	}
	if g[k] == nil {
		g[k] = &group{}
	}
	if last := len(g[k].steps) - 1; last < 0 || g[k].steps[last] != step {
		g[k].steps = append(g[k].steps, step)
	}
}
