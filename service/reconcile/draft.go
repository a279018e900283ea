package reconcile

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Draft plans a Service without changing anything in the cloud. An error is a
// fault; mistakes of the user are in Problems. A Service that cannot be drafted
// might desire any shared resource, unless all its existing resources were read.
func (r *Reconciler) Draft(ctx context.Context, job Job) (*Draft, error) {
	d := r.newDraft(job)
	d.ended = ctx.Err
	if job.Release {
		d.Intent = Release
		return d, r.draftRelease(ctx, d)
	}
	err := r.draft(ctx, d)
	if err != nil || d.Intent != Serve {
		if job.NeverProvisioned || job.NothingMade {
			// Nothing was ever created for it, so it can miss nothing. Otherwise a Service
			// full of mistakes would keep every shared resource.
			r.ledger.Enter(d.Owner, nil)
		}
		r.EnterUnknown(d.Owner)
	}
	return d, err
}

// newDraft returns an empty draft with the last snapshot of its Service.
func (r *Reconciler) newDraft(job Job) *Draft {
	owner := OwnerOf(job.Service)
	return &Draft{Job: job, Owner: owner, progress: progress{last: r.recall(owner)}}
}

// draft has four phases: parse, observe, build and compare. The last three are repeated, with a
// read, while the observations do not suffice for the plan that follows from them.
func (r *Reconciler) draft(ctx context.Context, d *Draft) error {
	if r.parse(d); d.Intent == LeaveAlone {
		return nil
	}
	d.Asked = askedDigest(r.cloud, d.Request)
	d.Digest = inputDigest(d.Asked, d.Request)
	d.recheck = d.last.clean == d.Digest
	if r.stillClean(d) {
		return nil
	}
	for {
		if err := r.observe(ctx, d); err != nil {
			return err
		}
		suffices, err := r.planObserved(ctx, d)
		if suffices || err != nil {
			return err
		}
		d.Want, d.Plan = nil, plan.Plan{}
		r.Distrust(d.Owner)
		d.last = r.recall(d.Owner)
	}
}

// planObserved builds and compares. It reports whether the observations suffice for that. Each
// cause for another read ends with that read.
func (r *Reconciler) planObserved(ctx context.Context, d *Draft) (suffices bool, err error) {
	if d.Basis == Checked {
		return r.planChecked(d), nil
	}
	if err := r.build(ctx, d); err != nil || d.Intent == LeaveAlone {
		return true, err
	}
	if removed, err := r.awaitDeletions(ctx, d); removed || err != nil {
		d.Job.NeverProvisioned = false
		return false, err
	}
	if d.Intent == Serve && d.Basis == Remembered && hasUnproven(d.Want, d.Have, d.unproven) {
		return false, nil
	}
	if err := r.compare(d); err != nil {
		return false, err
	}
	if r.exceedsBasis(d) || r.createsForOthers(d) {
		d.Job.NeverProvisioned = false
		return false, nil
	}
	return true, nil
}

// stillClean reports whether the last run left nothing to do and nothing has changed
// since.
func (r *Reconciler) stillClean(d *Draft) bool {
	if !d.last.isFresh || d.last.clean != d.Digest || d.Problems.Errors() || r.isElsewhere(d) {
		return false
	}
	d.remember()
	d.Clean, d.Problems = true, append(d.Problems, d.last.warnings...).Distinct()
	return true
}

// draftRelease plans the release of everything that the Service owns.
func (r *Reconciler) draftRelease(ctx context.Context, d *Draft) error {
	d.Request = providers.Request{Owner: d.Owner, Service: d.Job.Service}
	r.ledger.Leave(d.Owner)
	if last := d.last; last.isFresh && last.basis != Checked && !hasUnproven(nil, last.Have, last.unproven) {
		if r.sharesCalls(last.Have) {
			r.reader.Gather(ctx) // others may be released as well
		}
		d.remember()
		d.Have, d.Blind = r.observed.Overlay(d.Have, d.read), last.blind
	} else if err := r.read(ctx, d, r.ownedScope(d.Owner, d.Job.Service)); err != nil {
		return err
	}
	r.beginRelease(d)
	d.Want = &stack.Stack{Owner: d.Owner}
	if before := r.cloud.BeforeDelete; before != nil {
		d.Want.Resources = before(d.Owner, d.Job.Service, d.Have)
	}
	return r.compare(d)
}

// ownedScope returns where anything that a Service may own can be found, with the nodes that
// prove it where the cloud needs them.
func (r *Reconciler) ownedScope(o stack.Owner, svc *corev1.Service) providers.Scope {
	scope := r.cloud.OwnedScope(o, svc)
	if r.cloud.ProvenByNodes {
		scope.Nodes = r.nodes.Select(nodeports.Filter{Everyone: true})
	}
	return scope
}

// sharesCalls reports whether a known resource is shared, and written by one call for all
// Services that use it.
func (r *Reconciler) sharesCalls(have *stack.Stack) bool {
	return slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		return res.Ownership == stack.Shared && r.cloud.Rules.Kinds[res.Key.Kind].Batch != nil
	})
}
