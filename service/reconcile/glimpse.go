package reconcile

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// mayGlimpse tells whether the Service asks for what the last clean run made: then its
// load balancer needs no more than a look, and what follows nodes and pods a read.
func (r *Reconciler) mayGlimpse(d *Draft, snap snapshot, known bool) bool {
	if d.Intent != Serve || d.Asked == "" {
		return false
	}
	if known && snap.basis == Glimpsed {
		return snap.asked == d.Asked
	}
	return !r.snapshots.seen(d.Owner) && d.Job.Applied == d.Asked
}

// glimpse looks whether the load balancer is there, and reads what follows the nodes
// and pods behind it. False: it is not there.
func (r *Reconciler) glimpse(ctx context.Context, d *Draft, scope providers.Scope) (bool, error) {
	scope.Only = r.glimpsed()
	if !slices.ContainsFunc(scope.Only, r.followsBackends) {
		scope.Depth, scope.Only = providers.Shallow, nil
	}
	if err := r.read(ctx, d, scope); err != nil {
		return false, err
	}
	d.Basis, d.origin = Glimpsed, Glimpsed
	return r.serving(d.Have), nil
}

// glimpsed returns the kinds that a glimpse reads, in order.
func (r *Reconciler) glimpsed() []stack.Kind {
	var out []stack.Kind
	for kind, rule := range r.cloud.Rules.Kinds {
		if rule.Role.Is(diff.EntryPoint) || rule.FollowsBackends {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

func (r *Reconciler) followsBackends(k stack.Kind) bool {
	return r.cloud.Rules.Kinds[k].FollowsBackends
}

// draftGlimpsed plans for the nodes and pods behind a Service alone, from a glimpse.
// False: that is not enough, and all that the Service may own must be read.
func (r *Reconciler) draftGlimpsed(d *Draft) bool {
	want, problems, err := r.wants(d, d.Have)
	if err != nil || problems.Errors() || len(d.Blind) > 0 {
		return false
	}
	r.takeDesired(d, want)
	if r.exceedsGlimpse(d) {
		return false
	}
	d.Have = r.believed(d.Want, d.Have)
	if err := r.compare(d); err != nil {
		return false
	}
	if len(d.Plan.Blocked) > 0 || !r.withinGlimpse(d) {
		return false
	}
	d.built, d.Problems = problems, append(d.Problems, problems...)
	if d.Plan.Empty() {
		d.Clean = true
		r.snapshots.put(d.Owner, r.snapshotOf(d, d.Have, d.Digest))
	}
	return true
}

// exceedsGlimpse reports whether a resource that follows nodes and pods was found but is
// no longer desired.
func (r *Reconciler) exceedsGlimpse(d *Draft) bool {
	return slices.ContainsFunc(d.Have.Resources, func(res stack.Resource) bool {
		_, wanted := d.Want.Get(res.Key)
		return r.followsBackends(res.Key.Kind) && res.Proof != stack.None && !wanted
	})
}

// believed returns what is wanted as if it were there, but for what was read: that is
// as it was found.
func (r *Reconciler) believed(want, found *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, res := range want.Resources {
		there, seen := found.Get(res.Key)
		switch {
		case seen && (r.followsBackends(res.Key.Kind) || r.cloud.Rules.Kinds[res.Key.Kind].Role.Is(diff.EntryPoint)):
			out.Resources = append(out.Resources, there)
		case r.followsBackends(res.Key.Kind):
			// It was looked for and is not there.
		default:
			res.Proof = stack.Derived
			if seen {
				res.ID, res.State = there.ID, there.State
			}
			out.Resources = append(out.Resources, res)
		}
	}
	return out
}

// withinGlimpse tells whether a plan needs to know no more than what was read: it
// changes what follows nodes and pods, or makes such a thing where the cloud refuses
// a second one, and knows the identifiers of all that the calls name.
func (r *Reconciler) withinGlimpse(d *Draft) bool {
	identified := func(k stack.Key) bool {
		_, wanted := d.Want.Get(k)
		there, _ := d.Have.Get(k)
		return !wanted || there.ID != ""
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
