package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Job is one Service to work on.
type Job struct {
	Service *corev1.Service
	// Release means that nothing is wanted any more: the Service is deleted, or
	// is no longer one of ours. Its annotations are not looked at.
	Release bool
	// Slices are the Service's EndpointSlices, where the cloud asks for endpoints.
	Slices []*discoveryv1.EndpointSlice
	// NamespaceLabels are those of the Service's namespace, where the cloud asks for them.
	NamespaceLabels map[string]string
	// Applied is the digest that the last clean run recorded on the Service.
	Applied string
	// Fresh means that nothing was ever made for the Service, by us or by an official
	// controller: what only could be there need not be looked for.
	Fresh bool
	// Foreign means that another controller made the Service's load balancer, and
	// that no run of ours has recorded anything on it yet.
	Foreign bool
}

// Draft is what would be done for a Service, and all that led to it.
type Draft struct {
	Job      Job
	Owner    stack.Owner
	Request  providers.Request
	Digest   string
	Problems annotations.Problems
	// Refused are those of the Problems that are no mistake but not allowed.
	Refused annotations.Problems
	// Clean drafts have nothing to do by what is already known: nothing was
	// read, built or compared.
	Clean bool
	// Untouched drafts make no statement about the cloud because the Service
	// cannot be understood and was never understood before.
	Untouched  bool
	Have, Want *stack.Stack
	Facts      providers.Facts
	Blind      []stack.Kind
	Plan       plan.Plan

	// following drafts keep what is there and only let it follow the nodes,
	// because nobody knows what the Service wants.
	following bool

	fresh   bool // have was read deeply by this draft
	assumed bool // nothing is there, as far as nobody has looked; see looked
	partial bool // have is what this process has made, and nobody has looked for more
	looked  []stack.Kind
	manual  errands   // what earlier runs on the same read have left to others
	shallow bool      // have is the result of a shallow read
	read    time.Time // when the cloud was asked for have
	recheck bool      // the last run left nothing to do, on the same input
}

// Draft plans a Service without changing anything in the cloud. An error is a
// fault; what the user did wrong is in Problems. A Service that cannot be
// drafted might want anything that is shared.
func (r *Reconciler) Draft(ctx context.Context, job Job) (*Draft, error) {
	d := &Draft{Job: job, Owner: OwnerOf(job.Service)}
	if job.Release {
		return d, r.draftRelease(ctx, d)
	}
	err := r.draft(ctx, d)
	if err != nil || d.Untouched || d.following {
		if job.Fresh {
			// Nothing was ever made for it, so it can miss nothing. Else whoever writes
			// a Service full of mistakes would keep everything that is shared.
			r.book.Enter(d.Owner, nil)
		}
		r.Shadow(d.Owner)
	}
	return d, err
}

func (r *Reconciler) draft(ctx context.Context, d *Draft) error {
	if !r.understand(d) {
		return nil
	}
	d.Digest = inputDigest(r.cloud, d.Request)
	d.recheck = r.snapshots.clean(d.Owner) == d.Digest
	if r.stillClean(d) {
		return nil
	}
	if err := r.know(ctx, d); err != nil {
		return err
	}
	if err := r.build(d); err != nil || d.Untouched || d.Clean {
		return err
	}
	if !d.following && !d.fresh && unprovenBeyond(d.Want, d.Have) {
		if err := r.buildAnew(ctx, d); err != nil || d.Untouched {
			return err
		}
	}
	r.compare(d)
	if !r.overreaches(d) {
		return nil
	}
	d.Job.Fresh, d.assumed = false, false
	if err := r.buildAnew(ctx, d); err != nil || d.Untouched {
		return err
	}
	r.compare(d)
	return nil
}

// stillClean tells whether the last run left nothing to do and nothing has changed
// since.
func (r *Reconciler) stillClean(d *Draft) bool {
	snap, ok := r.snapshots.get(d.Owner)
	if !ok || snap.clean != d.Digest || d.Problems.Errors() {
		return false
	}
	d.Clean, d.Have, d.manual = true, snap.have, snap.manual
	return true
}

// buildAnew builds from a new read, whatever is known.
func (r *Reconciler) buildAnew(ctx context.Context, d *Draft) error {
	if err := r.knowAnew(ctx, d); err != nil {
		return err
	}
	return r.build(d)
}

// draftRelease plans the end of everything that the Service owns.
func (r *Reconciler) draftRelease(ctx context.Context, d *Draft) error {
	d.Request = providers.Request{Owner: d.Owner, Service: d.Job.Service}
	r.book.Leave(d.Owner)
	if snap, ok := r.snapshots.get(d.Owner); ok && !snap.shallow && !unprovenBeyond(nil, snap.have) {
		d.Have, d.Blind, d.read, d.manual, d.partial = snap.have, snap.blind, snap.read, snap.manual, snap.assumed
	} else if err := r.read(ctx, d, r.cloud.Trace(d.Owner, d.Job.Service)); err != nil {
		return err
	}
	d.Want = &stack.Stack{Owner: d.Owner}
	r.compare(d)
	return nil
}

// understand chooses the kind and reads the annotations. A Service with a bad
// value goes on by the last request that was fine, with today's nodes; without
// one, what is there goes on. False: it is left alone.
func (r *Reconciler) understand(d *Draft) bool {
	svc := d.Job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, problems := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	d.Problems = problems
	d.Request = providers.Request{Owner: d.Owner, Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.labels(d.Job)}
	r.admit(d)
	if d.Problems.Errors() && !r.fallBack(d) {
		return false
	}
	d.Request.Backends = r.backends(d)
	return true
}

// fallBack puts the last good request in the place of one that cannot be used,
// unless that is no longer allowed either.
func (r *Reconciler) fallBack(d *Draft) bool {
	if good := r.snapshots.good(d.Owner); good != nil && !r.refusals(*good).Errors() {
		d.Request = *good
		return true
	}
	d.following = r.cloud.Follow != nil
	d.Untouched = !d.following
	return d.following
}

// follow wants what is there, with today's backends; nothing if nothing serves.
func (r *Reconciler) follow(d *Draft) {
	if !r.serving(d.Have) {
		d.Untouched = true
		return
	}
	d.settle(r, r.cloud.Follow(d.Request, d.Facts, d.Have))
}

func (r *Reconciler) backends(d *Draft) nodeports.Backends {
	set := r.nodes.Select(r.cloud.Select(d.Request))
	epslices := d.Job.Slices
	if of := r.cloud.EndpointsOf; of != nil && !of(d.Request.Service) {
		epslices = nil
	}
	return nodeports.BackendsOf(d.Request.Service, set, epslices, nodeports.FallbackOf(d.Request.Service))
}

// know brings have and facts: from the snapshot, else by a read. A Service that
// was clean before the process started is only looked at, once.
func (r *Reconciler) know(ctx context.Context, d *Draft) error {
	if r.assumes(d) {
		return r.assume(ctx, d)
	}
	scope, err := r.cloud.Scope(d.Request)
	if err != nil {
		return err
	}
	scope.Owner = d.Owner
	snap, known := r.snapshots.get(d.Owner)
	if known && !snap.shallow {
		scope.Own = nil // facts only, mostly from the session's memory
		if err := r.read(ctx, d, scope); err != nil {
			return err
		}
		d.Have, d.fresh, d.read, d.manual, d.partial = snap.have, false, snap.read, snap.manual, snap.assumed
		d.Blind = append(slices.Clone(snap.blind), d.Blind...)
		return nil
	}
	if !d.following && !r.snapshots.seen(d.Owner) && d.Job.Applied != "" && d.Job.Applied == d.Digest {
		scope.Depth = providers.Shallow
		if err := r.read(ctx, d, scope); err != nil {
			return err
		}
		if r.serving(d.Have) {
			d.shallow, d.fresh = true, false
			return nil
		}
		scope.Depth = providers.Deep
	}
	return r.read(ctx, d, scope)
}

// unprovenBeyond tells whether something shared was found without proof and is
// not wanted any more. It was not ours to prove when it was read, before our own
// load balancer was made; only a new read can tell whether it has to go.
func unprovenBeyond(want, have *stack.Stack) bool {
	return slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		_, wanted := want.Get(res.Key)
		return res.Hold == stack.Counted && res.Proof == stack.None && !wanted
	})
}

// knowAnew reads all that the Service may own, whatever is known of it.
func (r *Reconciler) knowAnew(ctx context.Context, d *Draft) error {
	r.snapshots.distrust(d.Owner)
	return r.know(ctx, d)
}

// read asks the cloud.
func (r *Reconciler) read(ctx context.Context, d *Draft, scope providers.Scope) error {
	found := r.reader.Read(ctx, scope)
	if found.Err != nil {
		return found.Err
	}
	d.Have, d.Facts, d.Blind = found.Have.Clone(), found.Facts, found.Blind
	d.Have.Owner = d.Owner
	d.fresh, d.partial, d.read = true, false, r.options.Now()
	r.shared.see(d.Have, d.read)
	return nil
}

// serving tells whether a load balancer of ours is among what was found.
func (r *Reconciler) serving(have *stack.Stack) bool {
	return have != nil && slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		return res.Proof != stack.None && r.cloud.Rules.Kinds[res.Key.Kind].Serving
	})
}

// build says what is wanted and enters it into the ledger.
func (r *Reconciler) build(d *Draft) error {
	if d.following {
		r.follow(d)
		return nil
	}
	want, problems, err := r.cloud.Build(d.Request, d.Facts, d.Have)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	d.Problems = append(d.Problems, problems...)
	if problems.Errors() {
		return r.buildLastGood(d)
	}
	d.settle(r, want)
	return nil
}

// buildLastGood builds from the last request that was fine when today's is not.
func (r *Reconciler) buildLastGood(d *Draft) error {
	if !r.fallBack(d) {
		return nil
	}
	if d.following {
		r.follow(d)
		return nil
	}
	d.Request.Backends = r.backends(d)
	want, problems, err := r.cloud.Build(d.Request, d.Facts, d.Have)
	if err != nil {
		return fmt.Errorf("build the last good state: %w", err)
	}
	if problems.Errors() {
		d.Untouched = true
		return nil
	}
	d.settle(r, want)
	return nil
}

// settle takes over what is wanted.
func (d *Draft) settle(r *Reconciler, want *stack.Stack) {
	want.Owner = d.Owner
	if r.cloud.Adopt != nil && !d.shallow {
		d.Have = r.cloud.Adopt(want, d.Have)
	}
	d.Want = want
	d.dropUnwanted()
	r.book.Enter(d.Owner, want.Resources)
	if d.shallow {
		d.Clean = true
		r.snapshots.put(d.Owner, r.snapshotOf(d, d.Have, d.Digest))
	}
}

// compare makes the plan and puts it under the policies.
func (r *Reconciler) compare(d *Draft) {
	p := diff.Compare(d.Want, d.Have, r.cloud.Rules, r.book)
	policies := slices.Clone(r.options.Policies)
	if len(d.Blind) > 0 {
		policies = append(policies, blind(d.Blind, d.Have))
	}
	if members := d.Request.Backends.Nodes; members.FilteredOut() {
		policies = append(policies, keepMembers(members.Eligible(), r.populated(d.Have)))
	}
	if r.keeps(d) {
		policies = append(policies, keepDrift)
	}
	d.Plan = p.Under(policies...)
}

// blind holds what cannot be decided without having seen a kind.
func blind(kinds []stack.Kind, have *stack.Stack) plan.Policy {
	return func(s plan.Step) plan.Verdict {
		if !slices.Contains(kinds, s.ID.Key.Kind) {
			return plan.Verdict{}
		}
		if _, seen := have.Get(s.ID.Key); seen && s.ID.Action == plan.Update {
			return plan.Verdict{}
		}
		return plan.Verdict{Held: true, By: "blind", Why: "resources of the kind " + string(s.ID.Key.Kind) + " could not be read"}
	}
}

// populated are the found resources that have members: a set of a part of theirs
// is not empty.
func (r *Reconciler) populated(have *stack.Stack) map[stack.Key]bool {
	out := map[stack.Key]bool{}
	for _, res := range have.Resources {
		for _, f := range stack.Fields(res.Spec) {
			if _, set := r.cloud.Rules.Kinds[res.Key.Kind].Sets[f.Name]; set && !emptySlice(f.Value) && res.In != (stack.Key{}) {
				out[res.In] = true
			}
		}
	}
	return out
}

// keepMembers holds the steps that would empty a load balancer because a filter
// matched no node although there are nodes: more often a mistake than a wish.
// A replacement would do the same as a removal, since the new one stays empty.
func keepMembers(eligible int, populated map[stack.Key]bool) plan.Policy {
	why := fmt.Sprintf("no node matches although %d could: the last ones stay", eligible)
	return func(s plan.Step) plan.Verdict {
		if s.Reason == plan.Replaced && populated[s.ID.Key] {
			return plan.Verdict{Held: true, By: "filter", Why: why}
		}
		for _, ch := range s.Changes {
			if s.ID.Action == plan.Update && len(ch.Removed) > 0 && emptySlice(ch.To) {
				return plan.Verdict{Held: true, By: "filter", Why: why}
			}
		}
		return plan.Verdict{}
	}
}
