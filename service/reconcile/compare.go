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
		r.hold(d.Owner, d.Have)
	}
	r.own(d, d.Have)
	p, err := r.difference(d, d.Want, d.Have)
	if err != nil {
		return err
	}
	d.Found = r.serves(d.Have)
	policies := slices.Clone(r.options.Policies)
	if len(d.Blind) > 0 {
		policies = append(policies, holdUnseen(d.Blind, d.Have))
	}
	if members := d.Request.Backends.Nodes; members.FilteredOut() {
		policies = append(policies, keepMembers(members.Eligible(), r.populated(d.Have)))
	}
	policies = append(policies, r.refused.filter(d.Asked))
	if r.keeps(d) {
		policies = append(policies, keepDrift)
	}
	d.Plan = p.Under(policies...)
	if d.Intent != Release && !d.Plan.Writes() && len(d.Plan.Blocked) == 0 {
		d.Plan.Steps = nil // the end of a claim alone has no effect
	}
	return nil
}

// hold enters into the ledger what admits traffic and was found with evidence that it is
// the Service's: until its own run has replaced that, no other Service's run removes it.
func (r *Reconciler) hold(o stack.Owner, have *stack.Stack) {
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
	snap, known := r.snapshots.Fresh(d.Owner)
	return d.Intent == Serve && d.Basis == Remembered && known && snap.asked != d.Asked && slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool {
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

// listUnproven returns the shared resources that a draft has found without proof and does not
// desire, if the load balancer was found: such a read cannot prove more.
func (r *Reconciler) listUnproven(d *Draft) map[stack.Key]bool {
	if d.Basis == Read && !r.serving(d.Have) {
		return nil
	}
	out := map[stack.Key]bool{}
	for _, res := range d.Have.Resources {
		_, wanted := d.Want.Get(res.Key)
		if res.Ownership == stack.Shared && res.Proof == stack.None && !wanted && (d.Basis == Read || d.unproven[res.Key]) {
			out[res.Key] = true
		}
	}
	return out
}
