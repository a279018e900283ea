package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// Compare returns the steps that turn have into want. A nil or empty want
// releases everything that is proven to be the owner's. The steps are in an
// order in which they could be run one by one; which of them may run at the
// same time, their Needs say.
//
// A found resource without proof is never deleted, whatever the ledger says;
// a counted one is forgotten instead of deleted while anybody else wants it,
// and held while the ledger does not yet know everybody.
func Compare(want, have *stack.Stack, rules Rules, l ledger.Ledger) plan.Plan {
	c := comparison{rules: rules, ledger: l, owner: ownerOf(want, have), want: index(want), have: index(have)}
	c.wanted()
	c.unwanted()
	c.gateSwitch()
	c.order()
	steps, cycle := sorted(c.steps)
	if len(cycle) > 0 {
		return plan.Plan{Owner: c.owner, Held: append(c.held, cycle...)}
	}
	return plan.Plan{Owner: c.owner, Steps: steps, Held: c.held}
}

// comparison is the state of one Compare.
type comparison struct {
	rules      Rules
	ledger     ledger.Ledger
	owner      stack.Owner
	want, have resources
	steps      []plan.Step
	held       []plan.Held
	// fresh are the wanted resources that a step of this plan creates.
	fresh map[stack.Key]bool
	// replaced are found resources that a new one takes the place of, under the
	// same key: what refers to the key must be written again.
	replaced map[stack.Key]bool
	// foreign are wanted resources whose place is taken by somebody else's.
	foreign map[stack.Key]bool
}

// resources are a stack by key, with the keys in order.
type resources struct {
	keys  []stack.Key
	byKey map[stack.Key]stack.Resource
}

func index(s *stack.Stack) resources {
	out := resources{byKey: map[stack.Key]stack.Resource{}}
	if s == nil {
		return out
	}
	for _, r := range s.Resources {
		if _, twice := out.byKey[r.Key]; !twice {
			out.keys = append(out.keys, r.Key)
		}
		out.byKey[r.Key] = r
	}
	slices.SortFunc(out.keys, stack.Key.Compare)
	return out
}

func ownerOf(want, have *stack.Stack) stack.Owner {
	if want != nil && want.Owner != (stack.Owner{}) {
		return want.Owner
	}
	if have != nil {
		return have.Owner
	}
	return stack.Owner{}
}

// wanted plans everything that is wanted: parents before what is in them, so
// that a part knows whether its parent is new.
func (c *comparison) wanted() {
	c.fresh, c.foreign = map[stack.Key]bool{}, map[stack.Key]bool{}
	c.replaced = c.toReplace()
	for _, k := range c.parentsFirst() {
		w := c.want.byKey[k]
		if w.Hold == stack.Borrowed {
			continue
		}
		before := len(c.steps)
		c.wantedOne(w)
		if c.isForeign(w) {
			c.foreign[k] = true
			c.holdForeign(before)
		}
	}
}

func (c *comparison) wantedOne(w stack.Resource) {
	rule := c.rules.Kinds[w.Key.Kind]
	found, exists := c.have.byKey[w.Key]
	switch {
	case rule.Within.Inherent:
		c.inherent(w, found, exists, rule)
	case c.fresh[w.In] && rule.Within.Inline:
		c.fresh[w.Key] = true
		c.inline(w)
	case !exists, c.fresh[w.In] && rule.Within.Cascade:
		c.fresh[w.Key] = true
		c.create(w, rule, plan.Missing)
	default:
		c.change(w, found, rule)
	}
}

// toReplace finds the resources that cannot be changed in place, before
// anything is planned, so that those that refer to them know.
func (c *comparison) toReplace() map[stack.Key]bool {
	out := map[stack.Key]bool{}
	for _, k := range c.parentsFirst() {
		w, rule := c.want.byKey[k], c.rules.Kinds[k.Kind]
		found, exists := c.have.byKey[k]
		if !exists || w.Hold == stack.Borrowed || rule.Within.Inherent {
			continue
		}
		if out[w.In] && rule.Within.Cascade || len(rule.forces(rule.differences(w.Spec, found.Spec))) > 0 {
			out[k] = true
		}
	}
	return out
}

// pointing adds the fields that refer to a resource which is replaced: the
// reference is the same, but what it leads to is not.
func (c *comparison) pointing(w, found stack.Resource, rule Rule, diffs []plan.Change) []plan.Change {
	old := map[string]any{}
	for _, f := range stack.Fields(found.Spec) {
		old[f.Name] = f.Value
	}
	for _, f := range stack.Fields(w.Spec) {
		known := slices.ContainsFunc(diffs, func(ch plan.Change) bool { return ch.Field == f.Name })
		leads := slices.ContainsFunc(stack.Refs(f.Value), func(r stack.Ref) bool { return c.replaced[r.To] })
		if leads && !known && !slices.Contains(rule.Ignore, f.Name) {
			diffs = append(diffs, plan.Change{Field: f.Name, From: old[f.Name], To: f.Value, Forces: slices.Contains(rule.Immutable, f.Name)})
		}
	}
	return diffs
}

// isForeign tells whether the wanted resource's place is taken by one that
// nothing proves to be ours, or whether it would be a part of such a one.
func (c *comparison) isForeign(w stack.Resource) bool {
	if c.foreign[w.In] {
		return true
	}
	found, exists := c.have.byKey[w.Key]
	return exists && found.Proof == stack.None && w.Hold == stack.Owned && !c.rules.Kinds[w.Key.Kind].Within.Inherent
}

// holdForeign holds the steps from the given one on: what is not proven to be
// ours is neither changed nor replaced.
func (c *comparison) holdForeign(from int) {
	for _, s := range c.steps[from:] {
		delete(c.fresh, s.ID.Key)
		c.held = append(c.held, plan.Held{Step: s, By: "proof", Why: "what is there under this name carries no mark of this Service; rename or remove it, or mark it as this Service's"})
	}
	c.steps = c.steps[:from]
}

// parentsFirst orders the wanted keys so that what a resource is In comes
// before it.
func (c *comparison) parentsFirst() []stack.Key {
	depth := func(k stack.Key) int {
		d := 0
		for in := c.want.byKey[k].In; in != (stack.Key{}) && d < 8; in = c.want.byKey[in].In {
			d++
		}
		return d
	}
	keys := slices.Clone(c.want.keys)
	slices.SortStableFunc(keys, func(a, b stack.Key) int { return depth(a) - depth(b) })
	return keys
}

// inherent compares a resource that is there whenever its parent is.
func (c *comparison) inherent(w, found stack.Resource, exists bool, rule Rule) {
	if c.fresh[w.In] || !exists {
		found = stack.Resource{Key: w.Key, In: w.In, Spec: rule.defaultOf(w)}
	}
	c.update(w, found, rule, rule.differences(w.Spec, found.Spec))
}

// inline lets the parent's creating step carry the resource.
func (c *comparison) inline(w stack.Resource) {
	for i := range c.steps {
		if s := &c.steps[i]; s.ID.Action == plan.Create && s.ID.Key == w.In {
			s.With = append(s.With, w)
			return
		}
	}
}

func (c *comparison) create(w stack.Resource, rule Rule, why plan.Reason) {
	c.add(plan.Step{
		ID:     c.id(w.Key, plan.Create, ""),
		Target: w,
		Reason: why,
		Batch:  rule.batch(w, plan.Create, ""),
		Impact: rule.Impact["create"],
	})
}

// change compares a resource that is wanted and there.
func (c *comparison) change(w, found stack.Resource, rule Rule) {
	diffs := c.pointing(w, found, rule, rule.differences(w.Spec, found.Spec))
	if forced := rule.forces(diffs); len(forced) > 0 {
		c.replace(w, found, rule, diffs)
		return
	}
	c.update(w, found, rule, diffs)
}

func (c *comparison) replace(w, found stack.Resource, rule Rule, diffs []plan.Change) {
	c.fresh[w.Key] = true
	c.create(w, rule, plan.Replaced)
	c.steps[len(c.steps)-1].Found = found.Spec
	c.steps[len(c.steps)-1].Changes = diffs
	c.steps[len(c.steps)-1].Impact = rule.Impact["replace"]
	c.remove(found, rule, plan.Replaced)
}

// update makes one step for every call that the differing fields need.
func (c *comparison) update(w, found stack.Resource, rule Rule, diffs []plan.Change) {
	w.ID, w.Proof, w.State = found.ID, found.Proof, found.State
	w.Spec = rule.settled(w.Spec, found.Spec)
	for _, call := range rule.calls(diffs) {
		c.add(plan.Step{
			ID:      c.id(w.Key, plan.Update, call.part),
			Target:  w,
			Found:   found.Spec,
			Changes: call.changes,
			Reason:  plan.Changed,
			Batch:   rule.batch(w, plan.Update, call.part),
			Impact:  rule.impactOf(call.changes),
		})
	}
}

// unwanted plans the end of everything found that is not wanted.
func (c *comparison) unwanted() {
	for _, k := range c.have.keys {
		if _, wanted := c.want.byKey[k]; wanted {
			continue
		}
		found, rule := c.have.byKey[k], c.rules.Kinds[k.Kind]
		if found.Hold == stack.Borrowed || found.Proof == stack.None || rule.Within.Inherent {
			continue
		}
		if rule.Within.Cascade && c.goes(found.In) {
			continue
		}
		c.remove(found, rule, plan.Unwanted)
	}
}

// goes tells whether the found resource with the key is deleted by this plan,
// by a step of its own or with its parent.
func (c *comparison) goes(k stack.Key) bool {
	found, exists := c.have.byKey[k]
	if !exists || found.Proof == stack.None || found.Hold == stack.Borrowed {
		return false
	}
	if _, wanted := c.want.byKey[k]; wanted {
		return slices.ContainsFunc(c.steps, func(s plan.Step) bool { return s.ID.Key == k && s.ID.Action == plan.Delete })
	}
	return true
}

// remove deletes a found resource, or forgets it while others want it.
func (c *comparison) remove(found stack.Resource, rule Rule, why plan.Reason) {
	step := plan.Step{
		ID:     c.id(found.Key, plan.Delete, ""),
		Target: found,
		Found:  found.Spec,
		Reason: why,
		Batch:  rule.batch(found, plan.Delete, ""),
		Impact: rule.Impact["delete"],
	}
	if found.Hold == stack.Counted {
		if others := c.ledger.Others(c.owner, found); len(others) > 0 {
			step.ID.Action, step.Reason, step.Why = plan.Forget, plan.Shared, "stays, used by "+names(others)
			step.Batch, step.Impact = "", plan.NoImpact
		} else if !c.ledger.Ready() {
			c.held = append(c.held, plan.Held{Step: step, By: "ledger", Why: "not every Service of the cluster is known yet, and another one may still want it"})
			return
		}
	}
	c.add(step)
}

func (c *comparison) add(s plan.Step) { c.steps = append(c.steps, s) }

func (c *comparison) id(k stack.Key, a plan.Action, part string) plan.StepID {
	return plan.StepID{Owner: c.owner, Key: k, Action: a, Part: part}
}
