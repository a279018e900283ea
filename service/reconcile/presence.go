package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

func (r *Reconciler) followsBackends(k stack.Kind) bool {
	return r.cloud.Rules.Kinds[k].FollowsBackends
}

// planChecked plans for the nodes and pods behind a Service alone, from a presence check. False:
// everything that the Service may own must be read.
func (r *Reconciler) planChecked(d *Draft) bool {
	want, problems, err := r.buildDesired(d, d.Have)
	if err != nil || problems.Errors() || len(d.Blind) > 0 {
		return false
	}
	r.takeDesired(d, want)
	if r.hasUndesired(d) {
		return false
	}
	d.Have = r.assumeDesired(d.Want, d.Have)
	if err := r.compare(d); err != nil {
		return false
	}
	if len(d.Plan.Blocked) > 0 || !r.isWithinCheck(d) {
		return false
	}
	d.built, d.Problems = problems, append(d.Problems, problems...)
	if d.Plan.Empty() {
		d.Clean = true
		r.snapshots.Put(d.Owner, r.snapshotOf(d, d.Have, d.Digest))
	}
	return true
}

// hasUndesired reports whether a resource that follows nodes and pods was found but is
// no longer desired.
func (r *Reconciler) hasUndesired(d *Draft) bool {
	return slices.ContainsFunc(d.Have.Resources, func(res stack.Resource) bool {
		_, wanted := d.Want.Get(res.Key)
		return r.followsBackends(res.Key.Kind) && res.Proof != stack.None && !wanted
	})
}

// assumeDesired returns the desired resources as if they existed. The kinds that were read are
// as they were found.
func (r *Reconciler) assumeDesired(want, found *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, res := range want.Resources {
		existing, seen := found.Get(res.Key)
		switch {
		case seen && (r.followsBackends(res.Key.Kind) || r.cloud.Rules.Kinds[res.Key.Kind].Role.Is(diff.EntryPoint)):
			out.Resources = append(out.Resources, existing)
		case r.followsBackends(res.Key.Kind):
			// The read would have shown it.
		default:
			res.Proof = stack.Derived
			if seen {
				res.ID, res.State = existing.ID, existing.State
			}
			out.Resources = append(out.Resources, res)
		}
	}
	return out
}

// isWithinCheck reports whether a plan needs no more than what a presence check reads. It only
// updates kinds that follow nodes and pods, or creates such a resource where the cloud refuses a
// second one, and the identifiers of all resources that the calls name are known.
func (r *Reconciler) isWithinCheck(d *Draft) bool {
	identified := func(k stack.Key) bool {
		_, wanted := d.Want.Get(k)
		existing, _ := d.Have.Get(k)
		return !wanted || existing.ID != ""
	}
	return !slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool {
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
