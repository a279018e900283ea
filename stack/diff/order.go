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

// gateSwitch delays the deletion of a load balancer of another kind, and of everything that
// belongs to it, until the status has shown the new one for settleTime. Deletions that a
// creation needs are not delayed. While the desired stack is incomplete they are blocked:
// the next plan creates the rest of the new one first.
func (c *comparison) gateSwitch() {
	if !slices.ContainsFunc(c.steps, c.isSwitch) && !slices.ContainsFunc(c.steps, c.leavesLent) {
		return
	}
	inTheWay := c.neededByWrites()
	ready := c.notReady()
	complete := &plan.Barrier{}
	for i := range c.steps {
		if s := &c.steps[i]; c.completes(s) {
			complete.Steps = append(complete.Steps, s.ID)
		}
	}
	for i := range c.steps {
		s := &c.steps[i]
		if (s.Reason == plan.Unwanted || s.Reason == plan.Shared) && !inTheWay[i] && !isWrite(*s) {
			if c.incomplete != "" && !c.blocked[s.ID].Blocked {
				c.block(s.ID, plan.ByIncomplete, "it serves until its replacement is complete: "+c.incomplete)
			}
			s.Gate = plan.Gate{After: settleTime, Since: "the status shows the new load balancer"}
			s.Needs = slices.Concat(s.Needs, ready)
			if len(complete.Steps) > 0 {
				s.Behind = append(s.Behind, complete)
			}
		}
	}
}

// isWrite reports whether the step creates or changes something.
func isWrite(s plan.Step) bool { return s.ID.Action == plan.Create || s.ID.Action == plan.Update }

// notReady are steps that stand for the getting ready of wanted load balancers which the
// cloud is still making: until then it is the old one that serves.
func (c *comparison) notReady() []plan.StepID {
	var out []plan.StepID
	for _, k := range c.want.keys {
		found, exists := c.have.byKey[k]
		if !exists || found.State != stack.Pending || !c.rules.Kinds[k.Kind].Role.Is(EntryPoint) || c.replaced[k] {
			continue
		}
		if _, known := c.awaited[k]; !known {
			c.await(found, plan.ByBusy, "the cloud is still making it, or checks what is behind it; what serves now stays until it is ready")
		}
		out = append(out, c.steps[c.awaited[k]].ID)
	}
	return out
}

// isSwitch reports whether the step ends a serving kind that is not desired any more
// while another serving kind is. Leaving one to other Services is an end too.
func (c *comparison) isSwitch(s plan.Step) bool {
	return (s.Reason == plan.Unwanted || s.Reason == plan.Shared) && c.servedElsewhere(s.ID.Key.Kind)
}

// leavesLent reports whether the step removes our parts from an external resource of a
// serving kind, which stays without a step of its own, while another one is desired.
func (c *comparison) leavesLent(s plan.Step) bool {
	lent, exists := c.have.byKey[s.Target.In]
	_, wanted := c.want.byKey[s.Target.In]
	return exists && !wanted && lent.Ownership == stack.External && s.Reason == plan.Unwanted && c.servedElsewhere(lent.Key.Kind)
}

// servedElsewhere reports whether the kind serves and is not desired any more, while
// another serving kind is desired.
func (c *comparison) servedElsewhere(kind stack.Kind) bool {
	rule := c.rules.Kinds[kind]
	same, other := false, false
	for _, k := range c.want.keys {
		same = same || k.Kind == kind && !rule.Single
		other = other || c.rules.Kinds[k.Kind].Role.Is(EntryPoint)
	}
	return rule.Role.Is(EntryPoint) && other && !same
}

// neededByWrites returns the steps that a creation or an update needs, directly or
// through others, by their place. Updates that only take access away do not count: they
// wait for deletions.
func (c *comparison) neededByWrites() []bool {
	var first []int
	for i := range c.steps {
		if c.completes(&c.steps[i]) {
			first = append(first, i)
		}
	}
	return plan.NewGraph(c.steps).Before(first)
}

// completes reports whether the step creates or changes something that traffic may need.
func (c *comparison) completes(s *plan.Step) bool {
	rule := c.rules.Kinds[s.ID.Key.Kind]
	return isWrite(*s) && !(rule.Role.Is(Admits) && rule.has(OnlyNarrows, s))
}

// order fills in what every step needs.
func (c *comparison) order() {
	c.places = placesOf(c.steps, c.have)
	for i := range c.steps {
		s := &c.steps[i]
		if c.isAwaited(i) {
			continue
		}
		switch s.ID.Action {
		case plan.Create, plan.Update:
			c.needsOfWrite(i)
		case plan.Delete:
			c.needsOfDelete(s)
			c.needSettled(s, s.ID.Key)
		case plan.Forget: // ends a claim in memory: needs nothing
		}
	}
	c.replacements()
	c.slots()
	c.setOrder()
	c.edges()
	c.pairExchange()
	c.pairForRestore()
	c.keepRestorable()
	c.leaveLate()
	c.keepForRestore()
	c.undoExchange()
	for i := range c.steps {
		slices.SortFunc(c.steps[i].Needs, plan.StepID.Compare)
		c.steps[i].Needs = slices.Compact(c.steps[i].Needs)
	}
}

// needsOfWrite makes a step need the resources that it refers to, and its parent.
func (c *comparison) needsOfWrite(i int) {
	s := &c.steps[i]
	refs := slices.Clone(c.places.refs[i])
	for _, w := range s.With {
		refs = append(refs, stack.Refs(w.Spec)...)
	}
	for _, ref := range refs {
		c.needCreated(s, ref.To)
		c.needSettled(s, ref.To)
	}
	c.needCreated(s, s.Target.In)
	c.needSettled(s, s.ID.Key)
}

// needCreated makes s need the step that creates the resource with the key; a
// resource that is created inline or inherently is created with its parent.
func (c *comparison) needCreated(s *plan.Step, k stack.Key) {
	for range maxNesting {
		if k == (stack.Key{}) || !c.fresh[k] {
			return
		}
		if maker, ok := c.makers[k]; ok {
			if id := c.steps[maker].ID; id != s.ID {
				s.Needs = append(s.Needs, id)
			}
			return
		}
		k = c.want.byKey[k].In
	}
}

// needsOfDelete makes a deletion need that every observed resource that refers to the
// resource, or is In it, has released it. A resource cannot be deleted while a remaining
// one uses it.
func (c *comparison) needsOfDelete(s *plan.Step) {
	for _, k := range c.places.users(s.Target) {
		q := c.have.byKey[k]
		ids := slices.DeleteFunc(c.lettingGo(q, s.Target), func(id plan.StepID) bool { return id == s.ID })
		s.Needs = append(s.Needs, ids...)
		if within := c.rules.Kinds[k.Kind].Within; len(ids) == 0 && !within.Inherent && !(within.Cascade && q.In == s.ID.Key) {
			c.block(s.ID, plan.ByUse, "it is used by "+k.String()+", which stays")
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
	for _, s := range c.stepsOf(q.Key) {
		if s.ID.Action == plan.Delete || s.ID.Action == plan.Update && dropsReference(*s, target) {
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

// dropsReference reports whether an update writes a field that referred to the target;
// members that it adds to a set leave the existing ones.
func dropsReference(s plan.Step, target stack.Resource) bool {
	return slices.ContainsFunc(s.Changes, func(ch plan.Change) bool {
		adds := len(ch.Added) > 0 && len(ch.Removed) == 0
		return !adds && slices.ContainsFunc(stack.Refs(ch.From), leadsTo(target))
	})
}

// replacements orders the two halves of each replacement. If the new one is created
// first, the old one is deleted when the new one is complete.
func (c *comparison) replacements() {
	whole := map[stack.Key]*plan.Step{} // deleted when the new one of its key is complete
	for i := range c.steps {
		s := &c.steps[i]
		if s.Reason != plan.Replaced || s.ID.Action != plan.Create {
			continue
		}
		del := c.find(c.id(s.ID.Key, plan.Delete, ""))
		if del == nil {
			continue
		}
		pair := plan.Pair{Create: s.ID, Delete: del.ID, Order: plan.CreateFirst}
		sameSlot := s.Target.Slot != "" && s.Target.Slot == del.Target.Slot
		if sameSlot || c.rules.Kinds[s.ID.Key.Kind].Replace == DeleteFirst {
			pair.Order = plan.DeleteFirst
			pair.Restore = c.canRestore(del.Target)
			s.Needs = append(s.Needs, del.ID)
			c.leaves = append(c.leaves, departure{step: del.ID, place: i})
		} else {
			del.Needs = append(del.Needs, s.ID)
			whole[s.ID.Key] = del
		}
		s.Pair, del.Pair = pair, pair
	}
	for _, t := range c.steps {
		if t.ID.Action != plan.Create && t.ID.Action != plan.Update {
			continue
		}
		k := t.ID.Key
		for range maxNesting {
			k = c.want.byKey[k].In
			if del := whole[k]; del != nil {
				del.Needs = append(del.Needs, t.ID)
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
		for _, t := range c.stepsOf(s.ID.Key) {
			f, g, ok := setPart(t.ID.Part)
			if ok && f == field && g == first {
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

// matches reports whether the match selects the step.
func (c *comparison) matches(m Match, s *plan.Step) bool {
	return (m.Action == "" || m.Action == s.ID.Action) &&
		(m.Kind == "" || m.Kind == s.ID.Key.Kind) &&
		(m.Name == "" || m.Name == s.ID.Key.Name) &&
		strings.HasPrefix(s.ID.Part, m.Part) &&
		(m.Effect == 0 || c.rules.Kinds[s.ID.Key.Kind].has(m.Effect, s)) &&
		(m.Where == nil || m.Where(s.Target))
}

// find is the step with the identifier; nil: there is none.
func (c *comparison) find(id plan.StepID) *plan.Step {
	for _, s := range c.stepsOf(id.Key) {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// stepsOf are the steps of one resource.
func (c *comparison) stepsOf(k stack.Key) []*plan.Step {
	out := make([]*plan.Step, 0, len(c.places.ofKey[k]))
	for _, i := range c.places.ofKey[k] {
		out = append(out, &c.steps[i])
	}
	return out
}
