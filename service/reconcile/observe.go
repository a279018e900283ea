package reconcile

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// View is what a draft has observed.
type View struct {
	Have  *stack.Stack
	Facts providers.Facts
	Blind providers.Blind
	Basis Basis // of Have

	scope    providers.Scope // of the read
	origin   Basis           // of Have, when it was not yet Remembered
	looked   []stack.Kind
	shown    *stack.Stack  // of a release: Have with the resources of a later Service of the same name; nil: there is none
	manual   manualActions // from earlier runs on the same read
	read     time.Time     // when the read began that Have is based on
	unproven map[stack.Key]bool
}

// Basis is the source of the observed stack, from the weakest to the best.
type Basis int

const (
	// Unknown: the draft has not observed anything.
	Unknown Basis = iota
	// Assumed: nothing exists, because nothing was ever created. Only resources were read whose
	// creation would not be refused.
	Assumed
	// Checked: a read showed that the load balancer exists, and its parts are assumed to be as
	// the last clean run left them.
	Checked
	// Remembered: the snapshot of an earlier run.
	Remembered
	// Read: everything that the Service may own was read for this draft.
	Read
)

// observe obtains the observed stack and the facts on the weakest basis that may suffice. If they
// are not as that presumes, everything is to be read. For a new Service only resources are read
// whose creation would not be refused. For a Service that was clean before the process started,
// only what follows its nodes and pods is read.
func (r *Reconciler) observe(ctx context.Context, job Job, p Parsed, last recalled) (View, phase, error) {
	view, holds, err := r.observeLeast(ctx, job, p, last)
	if err == nil && !holds {
		return view, toReadAll, nil
	}
	return view, toBuild, err
}

// observeLeast observes, and reports whether the result is as its basis presumes.
func (r *Reconciler) observeLeast(ctx context.Context, job Job, p Parsed, last recalled) (view View, holds bool, err error) {
	if r.canSkipRead(job, p.Intent, last) {
		return r.assumeAbsent(ctx, p)
	}
	scope, err := r.scopeOf(p)
	if err != nil {
		return View{}, false, err
	}
	checks := canCheckPresence(job, p, last)
	if last.isUsable() && !r.cameBack(p, last) && !r.isElsewhere(job.Service, last) && (last.basis != Checked || checks) {
		return r.observeFacts(ctx, scope, last)
	}
	if checks {
		return r.checkPresence(ctx, scope)
	}
	view, err = r.read(ctx, scope)
	return view, true, err
}

// scopeOf returns what to read for a request.
func (r *Reconciler) scopeOf(p Parsed) (providers.Scope, error) {
	scope, err := r.cloud.Scope(p.Request)
	scope.Owner = p.Owner
	return scope, err
}

// covers reports whether a view suffices for a request that is followed in place of the one that it
// was obtained for. That may need more, such as the subnet that the Service has instead of
// the one that it names now.
func (r *Reconciler) covers(v View, p Parsed) (bool, error) {
	if p.Intent != Serve {
		return true, nil
	}
	scope, err := r.scopeOf(p)
	return err == nil && scope.Within(v.scope), err
}

// canSkipRead reports whether the Service is new, so that nothing of it can exist in the cloud.
func (r *Reconciler) canSkipRead(job Job, intent Intent, last recalled) bool {
	return job.NeverProvisioned && !job.Look && intent == Serve && r.cloud.ScopeForCreate != nil && !last.isSeen
}

// assumeAbsent observes for a new Service: what its creation would not be refused for, and the
// shared resources that are known. False: a resource of a name exists nevertheless.
func (r *Reconciler) assumeAbsent(ctx context.Context, p Parsed) (view View, absent bool, err error) {
	scope, err := r.cloud.ScopeForCreate(p.Request)
	if err != nil {
		return View{}, false, err
	}
	scope.Owner = p.Owner
	view, err = r.read(ctx, scope)
	if err != nil || slices.ContainsFunc(view.Have.Resources, func(res stack.Resource) bool { return res.Ownership == stack.Owned }) {
		return view, false, err
	}
	view.Basis, view.origin = Assumed, Assumed
	for _, l := range scope.Own {
		view.looked = append(view.looked, l.Kind)
	}
	for _, res := range r.observed.Shared() {
		if _, read := view.Have.Get(res.Key); !read {
			view.Have.Put(res)
		}
	}
	return view, true, nil
}

// canCheckPresence reports whether the request is that of the last clean run. Then it is enough
// to check that the load balancer exists, and to read what follows nodes and pods.
func canCheckPresence(job Job, p Parsed, last recalled) bool {
	if p.Intent != Serve || p.Asked == "" {
		return false
	}
	if last.isFresh && last.basis == Checked {
		return last.asked == p.Asked
	}
	return !last.isSeen && job.Applied == p.Asked
}

// checkPresence reads the kinds that clients connect to and the kinds that follow the nodes and
// pods. False: the load balancer was not found.
func (r *Reconciler) checkPresence(ctx context.Context, scope providers.Scope) (view View, found bool, err error) {
	whole := scope
	scope.Only = r.checkedKinds()
	if !slices.ContainsFunc(scope.Only, r.followsBackends) {
		scope.Depth, scope.Only = providers.Shallow, nil
	}
	if view, err = r.read(ctx, scope); err != nil {
		return view, false, err
	}
	view.Basis, view.origin, view.scope = Checked, Checked, whole
	return view, r.isServing(view.Have) && len(view.Blind) == 0, nil
}

// checkedKinds returns the kinds that a presence check reads, in order.
func (r *Reconciler) checkedKinds() []stack.Kind {
	var out []stack.Kind
	for kind, rule := range r.cloud.Rules.Kinds {
		if rule.Role.Is(diff.EntryPoint) || rule.FollowsBackends {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

// isUsable reports whether the snapshot of the last run may be used in place of a read. A kind that
// could not be read may be readable by now.
func (l recalled) isUsable() bool { return l.isFresh && len(l.blind) == 0 }

// observeFacts reads facts, mostly from the session's cache. The stack is that of the last run.
func (r *Reconciler) observeFacts(ctx context.Context, scope providers.Scope, last recalled) (view View, holds bool, err error) {
	whole := scope
	scope.Own = nil
	read, err := r.read(ctx, scope)
	if err != nil {
		return View{}, false, err
	}
	view = rememberedView(last)
	view.Facts, view.Blind, view.scope = read.Facts, read.Blind, whole
	view.Have = r.observed.Overlay(view.Have, view.read)
	if last.basis == Checked {
		view.Basis = Checked
		return view, len(view.Blind) == 0, nil
	}
	return view, true, nil
}

// rememberedView returns the view of an earlier run.
func rememberedView(last recalled) View {
	return View{Have: last.Have, read: last.At, Basis: Remembered, origin: last.basis, manual: last.manual, unproven: last.unproven}
}

// isStillClean reports whether the last run left nothing to do and nothing has changed since.
func (r *Reconciler) isStillClean(job Job, p Parsed, last recalled) bool {
	return last.isFresh && last.clean == p.Digest && !p.Problems.Errors() && !r.isElsewhere(job.Service, last)
}

// isElsewhere reports whether the user has moved the Service to another place, by an annotation,
// since the last valid request. Annotations that Berth writes itself do not count.
func (r *Reconciler) isElsewhere(svc *corev1.Service, last recalled) bool {
	good := last.good
	if good == nil || len(r.cloud.OnDelete) == 0 {
		return false
	}
	wrote := r.cloud.Status(*good, last.Have).Annotations
	return slices.ContainsFunc(r.cloud.OnDelete, func(key string) bool {
		value := svc.Annotations[key]
		return value != good.Service.Annotations[key] && value != wrote[key]
	})
}

// cameBack reports whether a member of the last run is another machine now. A cloud that
// identifies members by name may have removed the old one, and only a read shows that.
func (r *Reconciler) cameBack(p Parsed, last recalled) bool {
	return r.cloud.NamedMembers && last.good != nil && len(p.Request.Backends.Nodes.CameBack(last.good.Backends.Nodes)) > 0
}

// read reads the cloud for a Service that is served, and removes from the result what this process
// has deleted before.
func (r *Reconciler) read(ctx context.Context, scope providers.Scope) (View, error) {
	view, err := r.readView(ctx, scope)
	if err == nil {
		r.observed.DropDeleted(view.Have, view.read)
		r.observed.Listed(view.Have, view.read)
	}
	return view, err
}

// readView reads the cloud.
func (r *Reconciler) readView(ctx context.Context, scope providers.Scope) (View, error) {
	began := r.options.Now()
	scope.OthersRead = r.ledger.Ready()
	found := r.reader.Read(ctx, scope)
	if found.Err != nil {
		return View{}, found.Err
	}
	have := found.Have.Clone()
	have.Owner = scope.Owner
	return View{Have: have, Facts: found.Facts, Blind: found.Blind, Basis: Read, scope: scope, origin: Read, read: began}, nil
}

// followsBackends reports whether resources of a kind follow the nodes and pods.
func (r *Reconciler) followsBackends(k stack.Kind) bool {
	return r.cloud.Rules.Kinds[k].FollowsBackends
}
