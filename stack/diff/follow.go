package diff

import (
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// follow gives steps that end or change a found resource with backends an update that writes
// the backends of today and nothing else: traffic reaches them while the step is refused or
// held back.
func (c *comparison) follow() {
	if c.rules.Today == nil || len(c.want.keys) == 0 {
		return
	}
	today := resources{}
	for _, k := range c.have.keys {
		found, rule := c.have.byKey[k], c.rules.Kinds[k.Kind]
		if !rule.FollowsBackends || found.Proof == stack.None || found.Ownership != stack.Owned || c.endOf(found) == nil {
			continue
		}
		if today.byKey == nil {
			today = indexStack(c.rules.Today())
		}
		if now, ok := today.byKey[k]; ok {
			now.Spec = shareSets(now.Spec, c.want.byKey[k].Spec, rule)
			updates := c.updatesOf(now, found, rule)
			end := c.endOf(found) // updatesOf may have moved the steps
			end.Otherwise = append(end.Otherwise, updates...)
		}
	}
}

// shareSets returns a spec whose sets are those of another one where they are equal: a plan with both keeps the members of
// a large cluster once.
func shareSets(spec, other stack.Spec, rule Rule) stack.Spec {
	if other == nil || reflect.TypeOf(spec) != reflect.TypeOf(other) || reflect.TypeOf(spec).Kind() != reflect.Struct {
		return spec
	}
	out := reflect.New(reflect.TypeOf(spec)).Elem()
	out.Set(reflect.ValueOf(spec))
	for name := range rule.Sets {
		mine, its := out.FieldByName(name), reflect.ValueOf(other).FieldByName(name)
		if mine.IsValid() && reflect.DeepEqual(mine.Interface(), its.Interface()) {
			mine.Set(its)
		}
	}
	return out.Interface()
}

// endOf returns the step by which a found resource is no longer as it is: the deletion of it
// or of what it is part of, else its only update. Nil: there is none.
func (c *comparison) endOf(found stack.Resource) *plan.Step {
	if s := c.deletionOf(found); s != nil {
		return s
	}
	if of := c.stepsOf(found.Key); len(of) == 1 && of[0].ID.Action == plan.Update {
		return of[0]
	}
	return nil
}

// deletionOf returns the step that deletes a found resource or what that is part of; nil if
// it stays.
func (c *comparison) deletionOf(found stack.Resource) *plan.Step {
	for range maxNesting {
		if s := c.find(c.id(found.Key, plan.Delete, "")); s != nil {
			return s
		}
		parent, ok := c.have.byKey[found.In]
		if !ok {
			return nil
		}
		found = parent
	}
	return nil
}

// updatesOf returns the steps that write the backends of today to a found resource. They are
// not part of the plan.
func (c *comparison) updatesOf(now, found stack.Resource, rule Rule) []plan.Step {
	planned := len(c.steps)
	c.update(now, found, rule, rule.differences(now.Spec, found.Spec))
	out := slices.Clone(c.steps[planned:])
	c.steps = c.steps[:planned]
	for i := range out {
		out[i].Reason, out[i].Why = plan.Changed, "the planned step was not performed"
		c.needSettled(&out[i], found.Key)
	}
	return out
}

// undo gives the release of an entry point the creates of what admits its clients and must be
// deleted first, because the entry point is the only evidence of ownership: where the cloud
// refuses to delete it, it serves as before. Where a policy blocks its deletion, theirs are
// blocked as well.
func (c *comparison) undo() {
	if len(c.want.keys) > 0 {
		return
	}
	for i := range c.steps {
		s := &c.steps[i]
		if s.ID.Action != plan.Delete || !c.rules.Kinds[s.ID.Key.Kind].Role.Is(EntryPoint) {
			continue
		}
		for j := range c.steps {
			t := &c.steps[j]
			rule := c.rules.Kinds[t.ID.Key.Kind]
			if t.ID.Action != plan.Delete || !rule.Role.Is(Admits) || !slices.Contains(rule.ProvenBy, s.ID.Key.Kind) {
				continue
			}
			t.Prepares = true
			again := plan.Step{
				ID: c.id(t.ID.Key, plan.Create, ""), Target: t.Target, Reason: plan.Missing, Why: "what it admits clients to was not deleted",
				Batch: rule.batch(t.Target, plan.Create, ""), Waits: plan.Waits{Locks: t.Locks},
			}
			again.Target.ID = ""
			s.Otherwise = append(s.Otherwise, again)
		}
	}
}
