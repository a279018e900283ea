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
// goes with it, until clients have been told of the new one. What must go before
// the new one can come, because it is in its place, is not delayed.
func (c *comparison) gateSwitch() {
	if !slices.ContainsFunc(c.steps, c.isSwitch) {
		return
	}
	inTheWay := c.neededByWrites()
	for i := range c.steps {
		s := &c.steps[i]
		if (s.Reason == plan.Unwanted || s.Reason == plan.Shared) && !inTheWay[s.ID] {
			s.Gate = plan.Gate{After: settleTime, Since: "the status shows the new load balancer"}
		}
	}
}

// isSwitch tells whether the step ends a serving kind that is wanted no more
// while another serving kind is.
func (c *comparison) isSwitch(s plan.Step) bool {
	if s.ID.Action != plan.Delete || s.Reason != plan.Unwanted || !c.rules.Kinds[s.ID.Key.Kind].Serving {
		return false
	}
	same, other := false, false
	for _, k := range c.want.keys {
		same = same || k.Kind == s.ID.Key.Kind
		other = other || c.rules.Kinds[k.Kind].Serving
	}
	return other && !same
}

// neededByWrites are the steps that a creation or an update needs, directly or
// through others.
func (c *comparison) neededByWrites() map[plan.StepID]bool {
	needed := map[plan.StepID]bool{}
	for again := true; again; {
		again = false
		for _, s := range c.steps {
			if s.ID.Action != plan.Create && s.ID.Action != plan.Update && !needed[s.ID] {
				continue
			}
			for _, n := range s.Needs {
				again = again || !needed[n]
				needed[n] = true
			}
		}
	}
	return needed
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
// resource that is created inline or exists with its parent comes with that.
func (c *comparison) needCreated(s *plan.Step, k stack.Key) {
	for range maxNesting {
		if k == (stack.Key{}) || !c.fresh[k] {
			return
		}
		for _, t := range c.steps {
			if t.ID.Action == plan.Create && makes(t, k) {
				if t.ID != s.ID {
					s.Needs = append(s.Needs, t.ID)
				}
				return
			}
		}
		k = c.want.byKey[k].In
	}
}

// needsOfDelete: everything found that refers to the resource, or is In it,
// lets go of it first. What is used by something that stays cannot go.
func (c *comparison) needsOfDelete(s *plan.Step) {
	for _, k := range c.have.keys {
		q := c.have.byKey[k]
		refers := k != s.ID.Key && slices.ContainsFunc(stack.Refs(q.Spec), leadsTo(s.Target))
		if !refers && q.In != s.ID.Key {
			continue
		}
		ids := slices.DeleteFunc(c.lettingGo(q, s.Target), func(id plan.StepID) bool { return id == s.ID })
		s.Needs = append(s.Needs, ids...)
		if within := c.rules.Kinds[k.Kind].Within; len(ids) == 0 && !within.Inherent && !(within.Cascade && q.In == s.ID.Key) {
			c.hold(s.ID, "use", "it is used by "+k.String()+", which stays")
		}
	}
}

func leadsTo(target stack.Resource) func(stack.Ref) bool {
	return func(r stack.Ref) bool { return r.To == target.Key || r.ID != "" && r.ID == target.ID }
}

// maxNesting is how deep parts of parts are looked at.
const maxNesting = 8

// lettingGo lists the steps by which a found resource stops to hold the target:
// its own deletion, updates of the fields that refer to the target, or else the
// deletion of what it is In.
func (c *comparison) lettingGo(q, target stack.Resource) []plan.StepID {
	var out []plan.StepID
	for _, s := range c.steps {
		if s.ID.Key == q.Key && (s.ID.Action == plan.Delete || s.ID.Action == plan.Update && drops(s, target)) {
			out = append(out, s.ID)
		}
	}
	for range maxNesting {
		if len(out) > 0 || q.In == target.Key {
			return out
		}
		parent, ok := c.have.byKey[q.In]
		if !ok {
			return nil
		}
		q = parent
		if del := c.find(c.id(q.Key, plan.Delete, "")); del != nil {
			out = append(out, del.ID)
		}
	}
	return out
}

// drops tells whether an update writes a field that referred to the target;
// members that it adds to a set leave what was there.
func drops(s plan.Step, target stack.Resource) bool {
	return slices.ContainsFunc(s.Changes, func(ch plan.Change) bool {
		adds := len(ch.Added) > 0 && len(ch.Removed) == 0
		return !adds && slices.ContainsFunc(stack.Refs(ch.From), leadsTo(target))
	})
}

// replacements orders the two halves of each replacement. Where the new one
// comes first, the old one goes when the new one is complete.
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
		for _, t := range c.steps {
			if (t.ID.Action == plan.Create || t.ID.Action == plan.Update) && c.within(t.ID.Key, s.ID.Key) {
				del.Needs = append(del.Needs, t.ID)
			}
		}
	}
}

// within tells whether a wanted resource is a part of another, or of its parts.
func (c *comparison) within(k, whole stack.Key) bool {
	for range maxNesting {
		k = c.want.byKey[k].In
		if k == whole {
			return true
		}
	}
	return false
}

// slots lets a place be left before it is taken. A place that nobody leaves
// cannot be taken: the one who is there keeps it.
func (c *comparison) slots() {
	for i := range c.steps {
		s := &c.steps[i]
		if !c.takes(*s) {
			continue
		}
		for _, k := range c.have.keys {
			q := c.have.byKey[k]
			if k == s.ID.Key || q.Slot != s.Target.Slot || q.In != s.Target.In || c.goes(q.In) {
				continue
			}
			leaving := c.leaving(q)
			s.Needs = append(s.Needs, leaving...)
			if len(leaving) == 0 {
				c.hold(s.ID, "slot", s.Target.Slot+" is taken by "+k.String()+", which stays")
			}
		}
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
	for _, s := range c.steps {
		moves := s.ID.Action == plan.Update && s.Target.Slot != q.Slot
		if s.ID.Key == q.Key && (s.ID.Action == plan.Delete || moves) {
			out = append(out, s.ID)
		}
	}
	return out
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
		(m.Name == "" || m.Name == s.ID.Key.Name) &&
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
