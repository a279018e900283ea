package reconcile

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// draftRelease plans the release of everything that the Service owns. Nothing is parsed or built.
func (r *Reconciler) draftRelease(ctx context.Context, job Job, last recalled) (*Draft, error) {
	d := &Draft{Job: job, Parsed: releaseOf(OwnerOf(job.Service), job.Service), last: last}
	r.ledger.Leave(d.Owner)
	view, err := r.observeOwned(ctx, d.Parsed, last)
	if err != nil {
		return d, err
	}
	d.View = r.beginRelease(d.Owner, view)
	d.Want = &stack.Stack{Owner: d.Owner}
	if before := r.cloud.BeforeDelete; before != nil {
		d.Want.Resources = before(d.Owner, job.Service, d.Have)
	}
	d.Plan, err = r.compare(ctx, job, d.Parsed, d.View, d.Want)
	d.Found = r.listServing(d.Have)
	return d, err
}

// releaseOf returns the request for a Service that is released.
func releaseOf(o stack.Owner, svc *corev1.Service) Parsed {
	return Parsed{Owner: o, Intent: Release, Request: providers.Request{Owner: o, Service: svc}}
}

// observeOwned observes what a Service owns: as its last run has left it, or with a read of
// everything.
func (r *Reconciler) observeOwned(ctx context.Context, p Parsed, last recalled) (View, error) {
	if last.isFresh && last.basis != Checked && !hasUnproven(nil, last.Have, last.unproven) {
		if r.sharesCalls(last.Have) {
			r.reader.Gather(ctx) // others may be released as well
		}
		view := rememberedView(last)
		view.Have, view.Blind = r.observed.Overlay(view.Have, view.read), last.blind
		return view, nil
	}
	scope := r.ownedScope(p.Owner, p.Request.Service)
	scope.Owner = p.Owner
	view, err := r.readView(ctx, scope)
	if err == nil {
		r.observed.Listed(view.Have, view.read)
	}
	return view, err
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

// finishRelease checks that nothing is left; only a read can prove that.
func (r *Reconciler) finishRelease(ctx context.Context, d *Draft, res *Result) {
	unread := snapshot{late: r.lateRead(d, d.last.snapshot), isLateKnown: true}
	if res.Report.Stale() {
		r.snapshots.Put(d.Owner, unread)
	} else {
		seen := r.newSnapshot(d, res.Report.Have)
		seen.late, seen.isLateKnown = unread.late, true
		r.snapshots.Put(d.Owner, seen)
	}
	if res.Err != nil || res.Waits || len(d.Plan.Blocked) > 0 {
		return
	}
	if res.Wait = r.settleDelay(d); res.Wait > 0 {
		r.snapshots.Put(d.Owner, unread) // it is older than the last read must be
		res.Waits = true
		return
	}
	left, shown, blind, asked := d.Have, d.shown, d.Blind, d.read
	if d.Basis != Read || len(d.Plan.Steps) > 0 || r.readPredatesTakeover(d) {
		asked = r.options.Now()
		found := r.readLeft(ctx, d, res.Report)
		if found.Err != nil {
			res.Err = found.Err
			return
		}
		shown, blind = d.manual.without(found), found.Blind
		left = r.leaveNamesake(d.Owner, shown)
	}
	if len(blind) == 0 && !r.hasProven(d.Owner, left) {
		if res.Wait = r.observed.Unseen(d.Owner, cmp.Or(shown, left), asked, r.ledger); res.Wait <= 0 {
			res.Wait, res.Released = 0, true
			r.Forget(d.Owner)
			return
		}
	}
	r.snapshots.Put(d.Owner, unread) // the next draft reads the rest, and plans for that
	res.Waits = true
}

// readLeft reads the remaining resources of a Service after a run that released it.
func (r *Reconciler) readLeft(ctx context.Context, d *Draft, report engine.Report) providers.Read {
	scope := r.ownedScope(d.Owner, d.Job.Service)
	if len(d.Blind) == 0 && !r.mayHaveMore(d) && !r.isLastReferrer(d.Owner, report) {
		scope.Only = ownKinds(d, report)
	}
	return r.reader.ReadLate(ctx, scope)
}

// isLastReferrer reports whether a shared resource was left to other Services that have released
// it since. They could not delete it while this Service used it, and nothing else will.
func (r *Reconciler) isLastReferrer(o stack.Owner, report engine.Report) bool {
	return slices.ContainsFunc(report.Results, func(res engine.Result) bool {
		return res.Step.ID.Action == plan.Forget && len(r.ledger.Others(o, res.Step.Target)) == 0
	})
}

// ownKinds returns the kinds of the resources that the Service alone had. After a complete read,
// no other kinds have to be read again.
func ownKinds(d *Draft, report engine.Report) []stack.Kind {
	var out []stack.Kind
	add := func(res stack.Resource) {
		if res.Ownership == stack.Owned && !slices.Contains(out, res.Key.Kind) {
			out = append(out, res.Key.Kind)
		}
	}
	for _, res := range d.Have.Resources {
		add(res)
	}
	for _, done := range report.Results {
		add(done.Step.Target)
	}
	return out
}

// Exists reads whether a resource is left that is proven to be the Service's.
func (r *Reconciler) Exists(ctx context.Context, svc *corev1.Service) (bool, error) {
	o := OwnerOf(svc)
	found := r.reader.Read(ctx, r.ownedScope(o, svc))
	if found.Err != nil {
		return false, found.Err
	}
	return len(found.Blind) > 0 || r.hasProven(o, found.Have), nil
}

// hasProven reports whether a found resource is proven to be the owner's. Parts that are deleted with
// others do not count, nor do entries that other Services use.
func (r *Reconciler) hasProven(o stack.Owner, s *stack.Stack) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Resources, func(res stack.Resource) bool {
		if res.Proof == stack.None || res.Ownership == stack.External || r.cloud.Rules.Kinds[res.Key.Kind].Within.Inherent {
			return false
		}
		return res.Ownership == stack.Owned || len(r.ledger.Others(o, res)) == 0
	})
}
