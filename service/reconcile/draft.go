package reconcile

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Draft plans a Service without changing anything in the cloud. An error is a
// fault; mistakes of the user are in Problems. A Service that cannot be drafted
// might want any shared resource, unless all its existing resources were read.
func (r *Reconciler) Draft(ctx context.Context, job Job) (*Draft, error) {
	d := &Draft{Job: job, Owner: OwnerOf(job.Service), ended: ctx.Err}
	if job.Release {
		d.Intent = Release
		return d, r.draftRelease(ctx, d)
	}
	err := r.draft(ctx, d)
	if err != nil || d.Intent != Serve {
		if job.NeverProvisioned || job.NothingMade {
			// Nothing was ever made for it, so it can miss nothing. Else whoever writes
			// a Service full of mistakes would keep everything that is shared.
			r.ledger.Enter(d.Owner, nil)
		}
		r.EnterUnknown(d.Owner)
	}
	return d, err
}

func (r *Reconciler) draft(ctx context.Context, d *Draft) error {
	if r.parse(d); d.Intent == LeaveAlone {
		return nil
	}
	d.Asked = askedDigest(r.cloud, d.Request)
	d.Digest = inputDigest(d.Asked, d.Request)
	d.recheck = r.snapshots.clean(d.Owner) == d.Digest
	if r.stillClean(d) {
		return nil
	}
	if err := r.load(ctx, d); err != nil {
		return err
	}
	if d.Basis == Glimpsed {
		if r.draftGlimpsed(d) {
			return nil
		}
		d.Want, d.Plan = nil, plan.Plan{}
		if err := r.loadAnew(ctx, d); err != nil {
			return err
		}
	}
	return r.judge(ctx, d)
}

// judge builds and compares from the snapshot. Where the snapshot does not suffice, it
// repeats both from a new read.
func (r *Reconciler) judge(ctx context.Context, d *Draft) error {
	if err := r.build(ctx, d); err != nil || d.Intent == LeaveAlone {
		return err
	}
	if err := r.loadDeleted(ctx, d); err != nil || d.Intent == LeaveAlone {
		return err
	}
	if d.Intent == Serve && d.Basis == Remembered && unprovenBeyond(d.Want, d.Have, d.strange) {
		if err := r.buildAnew(ctx, d); err != nil || d.Intent == LeaveAlone {
			return err
		}
	}
	if err := r.compare(d); err != nil {
		return err
	}
	if !r.exceedsBasis(d) && !r.madeByOthers(d) {
		return nil
	}
	d.Job.NeverProvisioned = false
	if err := r.buildAnew(ctx, d); err != nil || d.Intent == LeaveAlone {
		return err
	}
	return r.compare(d)
}

// stillClean reports whether the last run left nothing to do and nothing has changed
// since.
func (r *Reconciler) stillClean(d *Draft) bool {
	snap, ok := r.snapshots.get(d.Owner)
	if !ok || snap.clean != d.Digest || d.Problems.Errors() || r.isElsewhere(d, snap) {
		return false
	}
	d.remembered(snap)
	d.Clean, d.Problems = true, append(d.Problems, snap.warnings...).Distinct()
	return true
}

// buildAnew builds from a new read, whatever is known.
func (r *Reconciler) buildAnew(ctx context.Context, d *Draft) error {
	if err := r.loadAnew(ctx, d); err != nil {
		return err
	}
	return r.build(ctx, d)
}

// draftRelease plans the end of everything that the Service owns.
func (r *Reconciler) draftRelease(ctx context.Context, d *Draft) error {
	d.Request = providers.Request{Owner: d.Owner, Service: d.Job.Service}
	r.ledger.Leave(d.Owner)
	if snap, ok := r.snapshots.get(d.Owner); ok && snap.basis != Glimpsed && !unprovenBeyond(nil, snap.have, snap.strange) {
		if r.sharesCalls(snap.have) {
			r.reader.Gather(ctx) // others may be released as well
		}
		d.remembered(snap)
		d.Have, d.Blind = r.observed.Overlay(d.Have, d.read), snap.blind
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

// sharesCalls tells whether something of what is known is shared, and written by one call for
// all who share it.
func (r *Reconciler) sharesCalls(have *stack.Stack) bool {
	return slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		return res.Ownership == stack.Shared && r.cloud.Rules.Kinds[res.Key.Kind].Batch != nil
	})
}

// parse chooses the kind and reads the annotations. A Service with a bad value goes
// on by the last request that was fine, with today's nodes; without one, what is
// there goes on; and where the cloud cannot do that, the Service is left alone.
func (r *Reconciler) parse(d *Draft) {
	svc := d.Job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, problems := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	d.Problems = problems
	d.Request = providers.Request{Owner: d.Owner, Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.labels(d.Job)}
	d.Request.Objects = r.objects(d.Request, d.Job)
	if r.cloud.Exposed != nil {
		d.Problems = d.Problems.Outweigh(r.cloud.Exposed(d.Request))
	}
	if caps := r.cloud.Capabilities; len(caps) > 0 {
		d.Problems = append(d.Problems, providers.Exceeds(caps, r.cloud.Reach(d.Request))...)
	}
	r.admit(d)
	if d.Problems.Errors() {
		r.fallBack(d)
	}
	if d.Intent != LeaveAlone {
		d.Request.Backends = r.backends(d)
	}
}

// fallBack puts the last good request in the place of one that cannot be used,
// unless that is no longer allowed either.
func (r *Reconciler) fallBack(d *Draft) {
	good := r.snapshots.good(d.Owner)
	switch {
	case good != nil && !r.refusals(*good).Errors():
		d.Request = *good
		d.Request.Objects = refreshed(good.Objects, d.Job.Objects)
	case r.cloud.KeepServing != nil:
		d.Intent, d.Request = KeepServing, r.withoutRefusedAccounts(d.Request)
	default:
		d.Intent = LeaveAlone
	}
}

// keepServing wants what is there, with today's backends. If nothing serves, nothing is wanted,
// and of what is shared the Service uses what was found of it, no more: what it may want
// one day is made when it is built.
func (r *Reconciler) keepServing(d *Draft) {
	found := r.cloud.KeepServing(d.Request, d.Facts, d.Have)
	if r.serving(d.Have) {
		r.takeDesired(d, found)
		return
	}
	d.Intent = LeaveAlone
	if len(d.Blind) == 0 && d.Basis >= Remembered {
		r.ledger.EnterSince(d.Owner, d.Job.Service.CreationTimestamp.Time, r.kept(found.Resources))
	}
}

func (r *Reconciler) backends(d *Draft) nodeports.Backends {
	set := r.nodes.Select(r.cloud.Select(d.Request))
	epslices := d.Job.Slices
	if !r.FollowsEndpoints(d.Request.Service) {
		epslices = nil
	} else {
		d.Problems = append(d.Problems, strays(d.Job.Strays)...)
	}
	return nodeports.BackendsOf(d.Request.Service, set, epslices, r.fallback(d.Request))
}

// fallback returns which terminating endpoints of the Service count.
func (r *Reconciler) fallback(request providers.Request) nodeports.Fallback {
	if r.cloud.Fallback == nil { // a cloud that was not bound
		return nodeports.FallbackOf(request.Service)
	}
	return r.cloud.Fallback(request)
}

// build says what is wanted and enters it into the ledger.
func (r *Reconciler) build(ctx context.Context, d *Draft) error {
	if d.Intent == KeepServing {
		r.keepServing(d)
		return nil
	}
	want, problems, err := r.wants(d, d.Have)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	d.built, d.Problems = problems, append(d.Problems, problems...)
	if problems.Errors() {
		return r.buildLastGood(ctx, d)
	}
	if r.admitWant(d, want) {
		r.takeDesired(d, want)
	}
	return nil
}

// buildLastGood builds from the last request that was fine when today's is not. Where
// that is fine no longer, what is there goes on.
func (r *Reconciler) buildLastGood(ctx context.Context, d *Draft) error {
	switch r.fallBack(d); d.Intent {
	case LeaveAlone:
		return nil
	case KeepServing:
		r.keepServing(d)
		return nil
	case Serve, Release:
	}
	d.Request.Backends = r.backends(d)
	if err := r.loadBeyond(ctx, d); err != nil {
		return err
	}
	want, problems, err := r.wants(d, d.Have)
	if err != nil {
		return fmt.Errorf("build the last good state: %w", err)
	}
	switch {
	case !problems.Errors():
		if r.admitWant(d, want) {
			r.takeDesired(d, want)
		}
	case r.cloud.KeepServing != nil:
		d.Intent = KeepServing
		r.keepServing(d)
	default:
		d.Intent = LeaveAlone
	}
	return nil
}

// takeDesired takes over what is wanted.
func (r *Reconciler) takeDesired(d *Draft, want *stack.Stack) {
	want.Owner = d.Owner
	if r.cloud.MatchFound != nil {
		d.Have = r.cloud.MatchFound(want, d.Have)
	}
	d.Want = want
	d.dropUnwanted()
	r.ledger.EnterSince(d.Owner, d.Job.Service.CreationTimestamp.Time, r.kept(want.Resources))
}

// kept are the resources that an owner wants, and those that stay with them.
func (r *Reconciler) kept(wanted []stack.Resource) []stack.Resource {
	out := slices.Clip(wanted)
	for _, res := range wanted {
		keeps := r.cloud.Rules.Kinds[res.Key.Kind].Keeps
		if keeps == nil || res.Ownership != stack.Shared {
			continue
		}
		for _, key := range keeps(res.Key) {
			out = append(out, stack.Resource{Key: key, Ownership: stack.Shared})
		}
	}
	return out
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

// compare makes the plan and puts it under the policies.
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
		d.Plan.Steps = nil // to end a claim alone is nothing that anybody would see
	}
	return nil
}
