package reconcile

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// compare computes the plan and applies the policies.
func (r *Reconciler) compare(d *Draft) error {
	if d.Basis >= Remembered {
		r.holdAdmitting(d.Owner, d.Have)
	}
	r.recordIdentities(d, d.Have)
	p, err := r.planChanges(d, d.Want, d.Have)
	if err != nil {
		return err
	}
	d.Found = r.listServing(d.Have)
	policies := slices.Clone(r.options.Policies)
	if len(d.Blind) > 0 {
		policies = append(policies, holdUnseen(d.Blind, d.Have))
	}
	if members := d.Request.Backends.Nodes; members.FilteredOut() {
		policies = append(policies, keepMembers(members.Eligible(), r.listPopulated(d.Have)))
	}
	policies = append(policies, r.refused.filter(d.Asked))
	if r.keepsDrift(d) {
		policies = append(policies, keepDrift)
	}
	d.Plan = p.Under(policies...)
	if d.Intent != Release && !d.Plan.Writes() && len(d.Plan.Blocked) == 0 {
		d.Plan.Steps = nil // the end of a claim alone has no effect
	}
	return nil
}

// planChanges compares the desired with an observed stack, in time.
func (r *Reconciler) planChanges(d *Draft, want, have *stack.Stack) (plan.Plan, error) {
	rules := r.cloud.Rules
	rules.Over = r.startDeadline(d)
	if d.Intent == Serve && r.cloud.KeepServing != nil {
		rules.Today = func() *stack.Stack { return r.cloud.KeepServing(d.Request, d.Facts, have) }
	}
	p := diff.Compare(want, have, rules, r.ledger)
	if rules.Over() {
		return plan.Plan{}, r.overdueError(d)
	}
	return p, nil
}

// holdAdmitting enters into the ledger what admits traffic and was found with evidence that it is
// the Service's: until its own run has replaced that, no other Service's run removes it.
func (r *Reconciler) holdAdmitting(o stack.Owner, have *stack.Stack) {
	var found []stack.Resource
	for _, res := range have.Resources {
		evident := res.Proof == stack.Tag || res.Proof == stack.Description || res.Proof == stack.Derived
		if evident && r.cloud.Rules.Kinds[res.Key.Kind].Role.Is(diff.Admits) {
			found = append(found, res)
		}
	}
	r.ledger.Hold(o, found)
}

// awaitDeletions reports whether a call has been deleting a shared resource that the draft
// desires and has found, after that call has ended. The Service is in the ledger by then, so
// that no further call deletes the resource.
func (r *Reconciler) awaitDeletions(ctx context.Context, d *Draft) (deleted bool, err error) {
	if d.awaited {
		return false, nil
	}
	for _, want := range d.Want.Resources {
		if _, found := d.Have.Get(want.Key); !found || want.Ownership != stack.Shared {
			continue
		}
		ongoing, removed := r.observed.RemovedSince(want, d.read)
		deleted = deleted || removed
		if ongoing == nil {
			continue
		}
		select {
		case <-ongoing:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	d.awaited = deleted
	return deleted, nil
}

// exceedsBasis reports whether the plan for a new Service needs a read: it creates a resource
// of a kind that was not looked for, and whose creation is not refused if the name is in use, or
// it blocks a step, which is reported to the user as a fact.
func (r *Reconciler) exceedsBasis(d *Draft) bool {
	if d.Basis != Assumed {
		return false
	}
	return len(d.Plan.Blocked) > 0 || slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool {
		kind := s.ID.Key.Kind
		return s.ID.Action == plan.Create && r.cloud.Rules.Kinds[kind].Clash != diff.Refused && !slices.Contains(d.looked, kind)
	})
}

// createsForOthers reports whether the plan for a changed request, from a remembered stack,
// creates a resource that other Services desire too: they may have created it since the read.
func (r *Reconciler) createsForOthers(d *Draft) bool {
	return d.Intent == Serve && d.Basis == Remembered && d.last.asked != d.Asked && slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool {
		return s.ID.Action == plan.Create && s.Target.Ownership == stack.Shared && len(r.ledger.Others(d.Owner, s.Target)) > 0
	})
}

// hasUnproven reports whether a shared resource was found without proof and is not desired any
// more. The read could not prove it before the load balancer of the Service existed; another
// read can.
func hasUnproven(want, have *stack.Stack, known map[stack.Key]bool) bool {
	return slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		_, wanted := want.Get(res.Key)
		return res.Ownership == stack.Shared && res.Proof == stack.None && !wanted && !known[res.Key]
	})
}
