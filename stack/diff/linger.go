package diff

import (
	"slices"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Linger defines how long a replaced resource is kept, if a cloud continues to use it
// for a while.
type Linger struct {
	After time.Duration
	Since string // what starts the clock, in words
	// With reports whether another resource must stay as long, since the old one is of no
	// use without it, such as a rule that admits its traffic; want are the desired ones
	// of the old one's kind. Nil: none must.
	With func(old, other stack.Resource, want []stack.Resource) bool
}

// gateLingering delays the deletion of resources that were in use until this plan, or
// until a previous one that was interrupted: the old half of a replacement, and unused
// resources while others of their kind are desired. A resource that blocks a new one is
// not delayed.
func (c *comparison) gateLingering() {
	inTheWay := c.neededByWrites()
	open := func(i int) bool {
		return c.steps[i].ID.Action != plan.Create && c.steps[i].ID.Action != plan.Update && c.steps[i].Gate.IsZero() && !inTheWay[i]
	}
	var old []int
	for i, s := range c.steps {
		if linger := c.rules.Kinds[s.ID.Key.Kind].Linger; linger != nil && s.ID.Action == plan.Delete && open(i) && c.outlived(s) {
			c.steps[i].Gate = plan.Gate{After: linger.After, Since: linger.Since, Part: true}
			old = append(old, i)
		}
	}
	for _, o := range old {
		kind := c.steps[o].ID.Key.Kind
		with := c.rules.Kinds[kind].Linger.With
		if with == nil {
			continue
		}
		want := c.wantedOf(kind)
		for i := range c.steps {
			if open(i) && with(c.steps[o].Target, c.steps[i].Target, want) {
				c.steps[i].Gate = c.steps[o].Gate
			}
		}
	}
}

// wantedOf are the wanted resources of a kind, in order.
func (c *comparison) wantedOf(kind stack.Kind) []stack.Resource {
	var want []stack.Resource
	for _, k := range c.want.keys {
		if k.Kind == kind {
			want = append(want, c.want.byKey[k])
		}
	}
	return want
}

// outlived reports whether a new resource has replaced the one that the step deletes,
// before the step.
func (c *comparison) outlived(s plan.Step) bool {
	if s.Reason == plan.Replaced {
		return s.Pair.Order == plan.CreateFirst
	}
	wanted := slices.ContainsFunc(c.want.keys, func(k stack.Key) bool { return k.Kind == s.ID.Key.Kind })
	return wanted && !slices.ContainsFunc(c.places.users(s.Target), func(k stack.Key) bool { return c.have.byKey[k].In != s.ID.Key })
}
