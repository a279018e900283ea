package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// Compare returns the steps that turn have into want. A nil or empty want
// releases everything that is proven to be the owner's. The steps are in an
// order in which they could be run one by one; their Needs decide which of them
// may run at the same time.
//
// An observed resource without proof is never changed or deleted, regardless of the
// ledger. A shared one is forgotten instead of deleted while another Service uses
// it, and blocked while the ledger is incomplete. With a blocked step, everything
// that needs it and its whole replacement are blocked.
func Compare(want, have *stack.Stack, rules Rules, l ledger.View) plan.Plan {
	c := comparison{
		rules: rules, ledger: l, owner: ownerOf(want, have), want: indexStack(want), have: indexStack(have),
		incomplete: incompleteOf(want), fresh: map[stack.Key]bool{}, makers: map[stack.Key]int{}, replacing: replacing{replaced: map[stack.Key]bool{}}, blocked: map[plan.StepID]plan.Verdict{},
	}
	c.parentsFirst()
	c.toReplace()
	c.wanted()
	c.unwanted()
	c.unsettled()
	if rules.over() {
		return plan.Plan{Owner: c.owner}
	}
	c.order()
	c.gateSwitch()
	c.gateLingering()
	c.follow()
	c.undo()
	if rules.over() {
		return plan.Plan{Owner: c.owner}
	}
	p := plan.Plan{Owner: c.owner, Steps: c.sorted()}
	p = p.Under(func(s plan.Step) plan.Verdict { return c.blocked[s.ID] })
	p.Blocked = append(withoutIdle(p.Blocked), c.fixed...)
	return p
}

// comparison is the state of one Compare.
type comparison struct {
	rules      Rules
	ledger     ledger.View
	owner      stack.Owner
	want, have resources
	incomplete string      // what want lacks so far; see [stack.Stack.Incomplete]
	parents    []stack.Key // the wanted keys, what a resource is In before it
	steps      []plan.Step
	// blocked are the steps that may not run, and why.
	blocked map[plan.StepID]plan.Verdict
	fixed   []plan.Blocked // what can never be changed; nothing waits for it
	// fresh are the wanted resources that this plan makes, by a step of their
	// own, in their parent's, or because they exist with a fresh parent.
	fresh map[stack.Key]bool
	// makers are the steps that create the wanted resources, in their own call or in
	// that of another one, by their place until they are sorted.
	makers map[stack.Key]int
	// awaited are the steps that stand for found resources getting ready, by their place
	// until they are sorted.
	awaited map[stack.Key]int
	ordering
	replacing
}

// ordering is what the order of the steps follows from.
type ordering struct {
	places *places     // of what is ordered
	leaves []departure // what leaves places that others take
	trades []trade     // of an exchange
}

// resources are a stack by key, with the keys in order.
type resources struct {
	keys  []stack.Key
	byKey map[stack.Key]stack.Resource
}

func indexStack(s *stack.Stack) resources {
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

func incompleteOf(want *stack.Stack) string {
	if want == nil {
		return ""
	}
	return want.Incomplete
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

// wanted plans all desired resources: parents before their parts, so that it is known
// for each part if its parent is new.
func (c *comparison) wanted() {
	for _, k := range c.parents {
		if c.rules.over() {
			return
		}
		if w := c.want.byKey[k]; w.Ownership != stack.External {
			c.wantedOne(w)
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
		c.inline(w)
		if c.replaced[w.Key] && !rule.Within.Cascade {
			c.remove(found, rule, plan.Replaced)
		}
	case !exists, c.fresh[w.In] && rule.Within.Cascade:
		c.create(w, rule, plan.Missing)
	case c.isForeign(w):
		c.taken(w, rule)
	case c.replaced[w.Key]:
		c.replace(w, found, rule)
	default:
		diffs, known := c.diffs[w.Key]
		if !known {
			diffs = c.changes(w, found, rule)
		}
		c.update(w, found, rule, diffs)
	}
}

// isForeign reports whether the desired resource's place is taken by one without
// proof. A shared one without differences may belong to any owner.
func (c *comparison) isForeign(w stack.Resource) bool {
	found, exists := c.have.byKey[w.Key]
	rule := c.rules.Kinds[w.Key.Kind]
	if !exists || found.Proof != stack.None || rule.Within.Inherent {
		return false
	}
	return w.Ownership == stack.Owned || len(rule.differences(w.Spec, found.Spec)) > 0
}

// taken plans the creation of a resource whose place a foreign one has, and blocks
// it: a resource without proof is neither changed, nor replaced, nor used. Everything
// that is in it or refers to it needs the step and is blocked too.
func (c *comparison) taken(w stack.Resource, rule Rule) {
	c.create(w, rule, plan.Missing)
	c.block(c.id(w.Key, plan.Create, ""), plan.ByProof, "the existing resource of this name carries no mark of this Service; rename or remove it, or add the mark of this Service")
}

func (c *comparison) block(id plan.StepID, by plan.BlockedBy, why string) {
	c.blocked[id] = plan.Verdict{Blocked: true, By: by, Why: why}
}

// parentsFirst orders the desired keys so that each parent is before its parts.
func (c *comparison) parentsFirst() {
	depths := make(map[stack.Key]int, len(c.want.keys))
	for _, k := range c.want.keys {
		for in := c.want.byKey[k].In; in != (stack.Key{}) && depths[k] < maxNesting; in = c.want.byKey[in].In {
			depths[k]++
		}
	}
	c.parents = slices.Clone(c.want.keys)
	slices.SortStableFunc(c.parents, func(a, b stack.Key) int { return depths[a] - depths[b] })
}

// inherent compares a resource that exists whenever its parent does, and has the
// parent's identifier if it was not read.
func (c *comparison) inherent(w, found stack.Resource, exists bool, rule Rule) {
	if c.fresh[w.In] {
		c.fresh[w.Key] = true
	}
	if c.fresh[w.In] || !exists {
		found = stack.Resource{Key: w.Key, In: w.In, Spec: rule.defaultOf(w)}
	}
	if !c.fresh[w.In] && !exists {
		found.ID = c.have.byKey[w.In].ID
	}
	c.update(w, found, rule, c.changes(w, found, rule))
}

// inline lets the step carry the resource that creates what it is In, be that
// created by a step of its own or inline as well.
func (c *comparison) inline(w stack.Resource) {
	c.fresh[w.Key] = true
	if maker, ok := c.makers[w.In]; ok {
		c.makers[w.Key] = maker
		c.steps[maker].With = append(c.steps[maker].With, w)
	}
}

func (c *comparison) create(w stack.Resource, rule Rule, why plan.Reason) {
	c.fresh[w.Key] = true
	c.makers[w.Key] = len(c.steps)
	c.add(plan.Step{
		ID:     c.id(w.Key, plan.Create, ""),
		Target: w,
		Reason: why,
		Batch:  rule.batch(w, plan.Create, ""),
		Impact: rule.Impact["create"], Prepares: rule.Prepares,
	})
}

func (c *comparison) replace(w, found stack.Resource, rule Rule) {
	c.create(w, rule, plan.Replaced)
	s := &c.steps[len(c.steps)-1]
	s.Found, s.Changes, s.Impact = found.Spec, c.changes(w, found, rule), rule.Impact["replace"]
	if found.State == stack.Failed && rule.Failed == Remake {
		s.Why = "the cloud says that it has failed"
	}
	c.remove(found, rule, plan.Replaced)
}

// update makes one step for every call that the differing fields need.
func (c *comparison) update(w, found stack.Resource, rule Rule, diffs []plan.Change) {
	w.ID, w.Proof, w.State = found.ID, found.Proof, found.State
	w.Spec = rule.keepSticky(w.Spec, found.Spec)
	w, diffs = c.leaveFixed(w, found, rule, diffs)
	reason := plan.Changed
	if c.fresh[w.In] {
		reason = plan.Initial
	}
	if len(diffs) == 0 && found.State == stack.Failed && rule.Failed == Rewrite {
		c.rewrite(w, found, rule)
	}
	for _, call := range rule.calls(w.Spec, diffs) {
		c.add(plan.Step{
			ID:      c.id(w.Key, plan.Update, call.part),
			Target:  w,
			Found:   found.Spec,
			Changes: call.changes,
			Reason:  reason,
			Batch:   rule.batch(w, plan.Update, call.part),
			Impact:  rule.impactOf(call.changes),
		})
	}
}

// unwanted plans the end of everything found that is not wanted.
func (c *comparison) unwanted() {
	for _, k := range c.have.keys {
		if c.rules.over() {
			return
		}
		if _, wanted := c.want.byKey[k]; wanted {
			continue
		}
		found, rule := c.have.byKey[k], c.rules.Kinds[k.Kind]
		if found.Ownership == stack.External || found.Proof == stack.None || rule.Within.Inherent {
			continue
		}
		if found.Ownership == stack.Owned && c.isForeign(c.want.byKey[found.In]) {
			continue // a part of what is not ours is not ours
		}
		if rule.Within.Cascade && c.isDeleted(found.In) {
			continue
		}
		c.remove(found, rule, plan.Unwanted)
	}
}

// isDeleted reports whether the observed resource with the key is deleted by this plan,
// by a step of its own or with its parent.
func (c *comparison) isDeleted(k stack.Key) bool {
	found, exists := c.have.byKey[k]
	if !exists || found.Proof == stack.None || found.Ownership == stack.External {
		return false
	}
	within := c.rules.Kinds[k.Kind].Within
	if _, wanted := c.want.byKey[k]; wanted && !within.Inherent {
		return c.replaced[k]
	}
	if found.Ownership == stack.Shared && len(c.ledger.Others(c.owner, found)) > 0 {
		return false // it stays for others
	}
	return !within.Inherent || c.isDeleted(found.In)
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
	switch {
	case why == plan.Replaced:
		step.Impact = rule.Impact["replace"]
	case rule.Idle != nil && rule.Idle(found.Spec):
		step.Impact = plan.NoImpact
	}
	if found.Ownership == stack.Shared {
		others := c.ledger.Others(c.owner, found)
		switch {
		case len(others) > 0 && found.Proof == stack.Leftover:
			return // it is not ours to forget
		case len(others) > 0 && why == plan.Replaced:
			c.block(step.ID, plan.ByLedger, "it cannot be changed in place and is used by "+ownerNames(others))
		case len(others) > 0:
			step.ID.Action, step.Reason, step.Why = plan.Forget, plan.Shared, "stays, used by "+ownerNames(others)
			step.Batch, step.Impact = "", plan.NoImpact
		case !c.ledger.Ready():
			c.block(step.ID, plan.ByLedger, "not every Service of the cluster is known yet, and another one may still want it")
		}
	}
	c.add(step)
}

func (c *comparison) add(s plan.Step) {
	if c.rules.Lock != nil && s.ID.Action != plan.Forget {
		s.Locks = c.rules.Lock(c.owner, s.Target, c.found)
	}
	c.steps = append(c.steps, s)
}

func (c *comparison) found(k stack.Key) (stack.Resource, bool) {
	r, ok := c.have.byKey[k]
	return r, ok
}

func (c *comparison) id(k stack.Key, a plan.Action, part string) plan.StepID {
	return plan.StepID{Owner: c.owner, Key: k, Action: a, Part: part}
}
