package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/observed"
	"github.com/berth-lb/berth/stack/plan"
)

// mayAssume reports whether the draft may skip the read of resources that were never created.
func (r *Reconciler) mayAssume(d *Draft) bool {
	return d.Job.NeverProvisioned && !d.Job.Look && d.Intent == Serve && r.cloud.ScopeForCreate != nil && !r.snapshots.seen(d.Owner)
}

// assumeAbsent brings what must be known of a Service for which nothing was ever made,
// and what is known of the things that all Services share.
func (r *Reconciler) assumeAbsent(ctx context.Context, d *Draft) error {
	scope, err := r.cloud.ScopeForCreate(d.Request)
	if err != nil {
		return err
	}
	scope.Owner = d.Owner
	if err := r.read(ctx, d, scope); err != nil {
		return err
	}
	if slices.ContainsFunc(d.Have.Resources, func(res stack.Resource) bool { return res.Ownership == stack.Owned }) {
		d.Job.NeverProvisioned = false // something of a name is there after all
		return r.load(ctx, d)
	}
	d.Basis, d.origin = Assumed, Assumed
	for _, l := range scope.Own {
		d.looked = append(d.looked, l.Kind)
	}
	for _, res := range r.observed.Shared() {
		if _, read := d.Have.Get(res.Key); !read {
			d.Have.Put(res)
		}
	}
	return nil
}

// dropUnwanted takes out of have what others share and this Service does not want,
// where nothing was ever made for it: it is there for those who do.
func (d *Draft) dropUnwanted() {
	owned := func(res stack.Resource) bool { return res.Ownership == stack.Owned && res.Proof != stack.None }
	untouched := d.Job.NeverProvisioned && d.Job.Look && !slices.ContainsFunc(d.Have.Resources, owned)
	if d.Basis != Assumed && !untouched || d.Want == nil {
		return
	}
	d.Have.Resources = slices.DeleteFunc(d.Have.Resources, func(res stack.Resource) bool {
		_, wanted := d.Want.Get(res.Key)
		return res.Ownership == stack.Shared && res.In == (stack.Key{}) && !wanted
	})
}

// exceedsBasis tells whether an assumed plan needs to know more: it makes what would
// not be refused if something of its name were there and nobody has looked, or it
// holds something, which the user is told as if it were known.
func (r *Reconciler) exceedsBasis(d *Draft) bool {
	if d.Basis != Assumed {
		return false
	}
	return len(d.Plan.Blocked) > 0 || slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool {
		kind := s.ID.Key.Kind
		return s.ID.Action == plan.Create && r.cloud.Rules.Kinds[kind].Clash != diff.Refused && !slices.Contains(d.looked, kind)
	})
}

// mayHaveMore tells whether a Service may have more than this process knows of: it is
// older than the process, and nobody has looked since what another one had under way
// can have taken effect. Where nobody has looked at all, whatever it carried may have
// been taken off by hand, and may have named a load balancer of another kind.
func (r *Reconciler) mayHaveMore(d *Draft) bool {
	older := d.Job.Service.CreationTimestamp.Time.Before(r.started)
	return older && (d.origin == Assumed || d.read.Before(r.started.Add(observed.LateCalls)))
}

// untilLate is how long to wait before the last look at a Service that a predecessor may
// have worked on: a creation that arrives later than that look is nobody's any more.
// Of what was made in the second in which the process started nobody knows who saw it.
func (r *Reconciler) untilLate(d *Draft) time.Duration {
	if !r.hadPredecessor(d) {
		return 0
	}
	return max(r.started.Add(r.options.Lateness).Sub(r.options.Now()), 0)
}

// wasTooEarly tells whether what is known of a Service that a predecessor may have worked on
// was read before all that the predecessor had under way had arrived, however long the
// answers took.
func (r *Reconciler) wasTooEarly(d *Draft) bool {
	return r.hadPredecessor(d) && d.read.Before(r.started.Add(r.options.Lateness))
}

// hadPredecessor reports whether a previous process may have written to the cloud for a Service.
// It has not if this process claimed the Service without any mark on it, or if the record says
// that no run has written anything: a process changes both before its first write.
func (r *Reconciler) hadPredecessor(d *Draft) bool {
	if r.options.Lateness <= 0 || d.origin == Assumed || d.Job.NothingMade {
		return false
	}
	return !d.Job.Service.CreationTimestamp.After(r.started)
}

// contradicted reports whether the cloud refuted an assumption: a resource of that
// name exists, or a shared resource does not.
func contradicted(report engine.Report) bool {
	return slices.ContainsFunc(report.Results, func(res engine.Result) bool {
		return fault.Is(res.Outcome.Err, fault.Exists) || fault.Is(res.Outcome.Err, fault.NotFound)
	})
}

// runAnew reads all that the Service may own, plans again and performs that. What
// the first plan has made is found by the read; what it was refused is treated as
// anything else that is found, or told as a mistake.
func (r *Reconciler) runAnew(ctx context.Context, d *Draft, gates engine.Gates) Result {
	r.observed.ForgetShared()
	r.snapshots.distrust(d.Owner)
	job := d.Job
	job.NeverProvisioned, job.NothingMade = false, false
	again, err := r.Draft(ctx, job)
	if err != nil {
		return Result{Draft: d, Err: err}
	}
	again.learned = d.learned
	return r.Run(ctx, again, gates)
}
