package reconcile

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// confirmDesired waits until calls of other Services have ended that delete what is desired and was found,
// one time for a draft. After such a call, and while a shared resource is not proven, everything is
// to be read.
func (r *Reconciler) confirmDesired(ctx context.Context, p Parsed, v View, want *stack.Stack, awaited bool) (deleted bool, next phase, err error) {
	if !awaited {
		if deleted, err = r.awaitDeletions(ctx, want, v); deleted || err != nil {
			return deleted, toReadAll, err
		}
	}
	if p.Intent == Serve && v.Basis == Remembered && hasUnproven(want, v.Have, v.unproven) {
		return awaited, toReadAll, nil
	}
	return awaited, toCompare, nil
}

// judgePlan decides whether a plan may be run on the basis of the view. Else everything that the Service
// may own must be read.
func (r *Reconciler) judgePlan(p Parsed, v View, want *stack.Stack, planned plan.Plan, askedLast string) phase {
	suffices := true
	switch v.Basis {
	case Assumed:
		suffices = !r.exceedsAssumption(planned, v.looked)
	case Checked:
		suffices = len(planned.Blocked) == 0 && r.isWithinCheck(planned, want, v.Have)
	case Remembered:
		suffices = p.Intent != Serve || askedLast == p.Asked || !r.createsForOthers(planned)
	case Unknown, Read:
	}
	if !suffices {
		return toReadAll
	}
	return toEnd
}

// awaitDeletions reports whether a call has been deleting a shared resource that is desired and
// was found, after that call has ended. The Service is in the ledger by then, so that no further
// call deletes the resource.
func (r *Reconciler) awaitDeletions(ctx context.Context, desired *stack.Stack, v View) (deleted bool, err error) {
	for _, want := range desired.Resources {
		if _, found := v.Have.Get(want.Key); !found || want.Ownership != stack.Shared {
			continue
		}
		ongoing, removed := r.observed.RemovedSince(want, v.read)
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
	return deleted, nil
}

// exceedsAssumption reports whether the plan for a new Service needs a read: it creates a resource
// of a kind that was not looked for, and whose creation is not refused if the name is in use, or
// it blocks a step, which is reported to the user as a fact.
func (r *Reconciler) exceedsAssumption(p plan.Plan, looked []stack.Kind) bool {
	return len(p.Blocked) > 0 || slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		kind := s.ID.Key.Kind
		return s.ID.Action == plan.Create && r.cloud.Rules.Kinds[kind].Clash != diff.Refused && !slices.Contains(looked, kind)
	})
}

// createsForOthers reports whether a plan creates a resource that other Services desire too: they
// may have created it since the read.
func (r *Reconciler) createsForOthers(p plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.ID.Action == plan.Create && s.Target.Ownership == stack.Shared && len(r.ledger.Others(p.Owner, s.Target)) > 0
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

// hasUndesired reports whether a resource that follows nodes and pods was found but is
// no longer desired.
func (r *Reconciler) hasUndesired(want, have *stack.Stack) bool {
	return slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		_, wanted := want.Get(res.Key)
		return r.followsBackends(res.Key.Kind) && res.Proof != stack.None && !wanted
	})
}

// isWithinCheck reports whether a plan needs no more than what a presence check reads. It only
// updates kinds that follow nodes and pods, or creates such a resource where the cloud refuses a
// second one, and the identifiers of all resources that the calls name are known.
func (r *Reconciler) isWithinCheck(p plan.Plan, want, have *stack.Stack) bool {
	identified := func(k stack.Key) bool {
		_, wanted := want.Get(k)
		existing, _ := have.Get(k)
		return !wanted || existing.ID != ""
	}
	return !slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		if !r.followsBackends(s.ID.Key.Kind) || s.Target.In != (stack.Key{}) && !identified(s.Target.In) {
			return true
		}
		for _, f := range stack.Fields(s.Target.Spec) {
			if slices.ContainsFunc(stack.Refs(f.Value), func(ref stack.Ref) bool { return ref.ID == "" && !ref.IsZero() && !identified(ref.To) }) {
				return true
			}
		}
		switch s.ID.Action {
		case plan.Update:
			return s.Target.ID == ""
		case plan.Create:
			return r.cloud.Rules.Kinds[s.ID.Key.Kind].Clash != diff.Refused
		default:
			return true
		}
	})
}
