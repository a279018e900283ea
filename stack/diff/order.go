package diff

import (
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// settleTime is how long the old load balancer stays after the status names the
// new one: clients that resolved the old name need the time to ask again.
const settleTime = 60 * time.Second

// gateSwitch delays the end of a load balancer of another kind, and of all that
// goes with it, until clients have been told of the new one.
func (c *comparison) gateSwitch() {
	oldGoes := slices.ContainsFunc(c.steps, func(s plan.Step) bool {
		return s.ID.Action == plan.Delete && s.Reason == plan.Unwanted && c.rules.Kinds[s.ID.Key.Kind].Serving
	})
	newComes := slices.ContainsFunc(c.want.keys, func(k stack.Key) bool { return c.rules.Kinds[k.Kind].Serving })
	if !oldGoes || !newComes {
		return
	}
	for i := range c.steps {
		if s := &c.steps[i]; s.Reason == plan.Unwanted || s.Reason == plan.Shared {
			s.Gate = plan.Gate{After: settleTime, Since: "the status shows the new load balancer"}
		}
	}
}

// order fills in what every step needs.
func (c *comparison) order() {
	for i := range c.steps {
		s := &c.steps[i]
		switch s.ID.Action {
		case plan.Create, plan.Update:
			c.needsOfWrite(s)
		case plan.Delete:
			c.needsOfDelete(s)
		case plan.Forget: // ends a claim in memory: needs nothing
		}
	}
	c.replacements()
	c.slots()
	c.setOrder()
	c.edges()
	for i := range c.steps {
		slices.SortFunc(c.steps[i].Needs, plan.StepID.Compare)
		c.steps[i].Needs = slices.Compact(c.steps[i].Needs)
	}
}

// needsOfWrite: what a step refers to, and what its resource is In, is there first.
func (c *comparison) needsOfWrite(s *plan.Step) {
	refs := stack.Refs(s.Target.Spec)
	for _, w := range s.With {
		refs = append(refs, stack.Refs(w.Spec)...)
	}
	for _, ref := range refs {
		c.needCreated(s, ref.To)
	}
	c.needCreated(s, s.Target.In)
}

// needCreated makes s need the step that creates the resource with the key; a
// resource that is created inline comes with its parent.
func (c *comparison) needCreated(s *plan.Step, k stack.Key) {
	if k == (stack.Key{}) || !c.fresh[k] {
		return
	}
	for _, t := range c.steps {
		if t.ID.Action != plan.Create || t.ID == s.ID {
			continue
		}
		inline := slices.ContainsFunc(t.With, func(r stack.Resource) bool { return r.Key == k })
		if t.ID.Key == k || inline {
			s.Needs = append(s.Needs, t.ID)
		}
	}
}

// needsOfDelete: everything found that refers to the resource, or is In it,
// lets go of it first.
func (c *comparison) needsOfDelete(s *plan.Step) {
	for _, k := range c.have.keys {
		q := c.have.byKey[k]
		refers := slices.ContainsFunc(stack.Refs(q.Spec), func(r stack.Ref) bool { return r.To == s.ID.Key })
		if !refers && q.In != s.ID.Key {
			continue
		}
		for _, id := range c.lettingGo(q) {
			if id != s.ID {
				s.Needs = append(s.Needs, id)
			}
		}
	}
}

// lettingGo lists the steps by which a found resource stops to refer to
// anything: its deletion, or its parent's, or its update to another reference.
func (c *comparison) lettingGo(q stack.Resource) []plan.StepID {
	for range 4 { // parts are nested a few levels at most
		ids := c.stepsOf(q.Key)
		if len(ids) > 0 {
			return ids
		}
		parent, ok := c.have.byKey[q.In]
		if !ok {
			return nil
		}
		q = parent
		if ids := c.deletionOf(q.Key); len(ids) > 0 {
			return ids
		}
	}
	return nil
}

func (c *comparison) stepsOf(k stack.Key) []plan.StepID {
	var out []plan.StepID
	for _, s := range c.steps {
		if s.ID.Key == k && (s.ID.Action == plan.Delete || s.ID.Action == plan.Update) {
			out = append(out, s.ID)
		}
	}
	return out
}

func (c *comparison) deletionOf(k stack.Key) []plan.StepID {
	for _, s := range c.steps {
		if s.ID.Key == k && s.ID.Action == plan.Delete {
			return []plan.StepID{s.ID}
		}
	}
	return nil
}

// replacements orders the two halves of each replacement.
func (c *comparison) replacements() {
	for i := range c.steps {
		s := &c.steps[i]
		if s.Reason != plan.Replaced || s.ID.Action != plan.Create {
			continue
		}
		del := c.find(c.id(s.ID.Key, plan.Delete, ""))
		if del == nil {
			continue
		}
		sameSlot := s.Target.Slot != "" && s.Target.Slot == del.Target.Slot
		if sameSlot || c.rules.Kinds[s.ID.Key.Kind].Replace == DeleteFirst {
			s.Needs = append(s.Needs, del.ID)
			continue
		}
		del.Needs = append(del.Needs, s.ID)
	}
}

// slots lets a place be left before it is taken.
func (c *comparison) slots() {
	for i := range c.steps {
		s := &c.steps[i]
		if s.ID.Action != plan.Create || s.Target.Slot == "" {
			continue
		}
		for _, d := range c.steps {
			if d.ID.Action == plan.Delete && d.ID.Key != s.ID.Key && d.Target.Slot == s.Target.Slot && d.Target.In == s.Target.In {
				s.Needs = append(s.Needs, d.ID)
			}
		}
	}
}

// setOrder orders the adding and the removing calls of one set field.
func (c *comparison) setOrder() {
	for i := range c.steps {
		s := &c.steps[i]
		field, sign, ok := setPart(s.ID.Part)
		if !ok {
			continue
		}
		first := adds
		if c.removesFirst(s.ID.Key.Kind, field) {
			first = removes
		}
		if sign == first {
			continue
		}
		for _, t := range c.steps {
			f, g, ok := setPart(t.ID.Part)
			if ok && t.ID.Key == s.ID.Key && f == field && g == first {
				s.Needs = append(s.Needs, t.ID)
			}
		}
	}
}

func (c *comparison) removesFirst(kind stack.Kind, field string) bool {
	for name, set := range c.rules.Kinds[kind].Sets {
		if strings.EqualFold(name, field) {
			return set.RemoveFirst
		}
	}
	return false
}

func setPart(part string) (field, sign string, ok bool) {
	trimmed := strings.TrimRight(part, "0123456789")
	for _, sign := range []string{adds, removes} {
		if field, found := strings.CutSuffix(trimmed, sign); found {
			return field, sign, true
		}
	}
	return "", "", false
}

// edges adds the orders of the rule table.
func (c *comparison) edges() {
	for _, e := range c.rules.Edges {
		for i := range c.steps {
			then := &c.steps[i]
			if !e.Then.matches(*then) {
				continue
			}
			for _, first := range c.steps {
				if e.First.matches(first) && first.ID != then.ID && (!e.Same || related(first.Target, then.Target)) {
					then.Needs = append(then.Needs, first.ID)
				}
			}
		}
	}
}

func (m Match) matches(s plan.Step) bool {
	return (m.Action == "" || m.Action == s.ID.Action) &&
		(m.Kind == "" || m.Kind == s.ID.Key.Kind) &&
		strings.HasPrefix(s.ID.Part, m.Part)
}

// related tells whether one resource is In the other, both are in the same one,
// or one refers to what the other is In.
func related(a, b stack.Resource) bool {
	if a.Key == b.In || b.Key == a.In || (a.In == b.In && a.In != (stack.Key{})) {
		return true
	}
	refersToParent := func(x, y stack.Resource) bool {
		return y.In != (stack.Key{}) && slices.ContainsFunc(stack.Refs(x.Spec), func(r stack.Ref) bool { return r.To == y.In })
	}
	return refersToParent(a, b) || refersToParent(b, a)
}

func (c *comparison) find(id plan.StepID) *plan.Step {
	for i := range c.steps {
		if c.steps[i].ID == id {
			return &c.steps[i]
		}
	}
	return nil
}
