package reconcile

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// observe obtains the observed stack and the facts: from the snapshot, or by a read. For a new
// Service only resources whose creation would not be refused are read. For a Service that was
// clean before the process started, only what follows its nodes and pods is read.
func (r *Reconciler) observe(ctx context.Context, d *Draft) error {
	if r.canSkipRead(d) {
		if absent, err := r.assumeAbsent(ctx, d); absent || err != nil {
			return err
		}
	}
	scope, err := r.cloud.Scope(d.Request)
	if err != nil {
		return err
	}
	scope.Owner = d.Owner
	d.scope = scope
	checks := r.canCheckPresence(d)
	// A kind that could not be read may be readable by now.
	if d.last.isFresh && len(d.last.blind) == 0 && !r.cameBack(d) && !r.isElsewhere(d) && (d.last.basis != Checked || checks) {
		scope.Own = nil // facts only, mostly from the session's cache
		if err := r.read(ctx, d, scope); err != nil {
			return err
		}
		d.remember()
		d.Have = r.observed.Overlay(d.Have, d.read)
		if d.last.basis == Checked {
			d.Basis = Checked
		}
		return nil
	}
	if checks {
		if found, err := r.checkPresence(ctx, d, scope); err != nil || found {
			return err
		}
	}
	return r.read(ctx, d, scope)
}

// observeBeyond observes again for another request than the one that was observed for, if it
// needs more, such as the subnet that the Service has instead of the one that it names now.
func (r *Reconciler) observeBeyond(ctx context.Context, d *Draft) error {
	scope, err := r.cloud.Scope(d.Request)
	if err != nil || scope.Within(d.scope) {
		return err
	}
	return r.observe(ctx, d)
}

// canSkipRead reports whether the Service is new, so that nothing of it can exist in the cloud.
func (r *Reconciler) canSkipRead(d *Draft) bool {
	return d.Job.NeverProvisioned && !d.Job.Look && d.Intent == Serve && r.cloud.ScopeForCreate != nil && !d.last.isSeen
}

// assumeAbsent observes for a new Service: what its creation would not be refused for, and the
// shared resources that are known. False: a resource of a name exists nevertheless.
func (r *Reconciler) assumeAbsent(ctx context.Context, d *Draft) (absent bool, err error) {
	scope, err := r.cloud.ScopeForCreate(d.Request)
	if err != nil {
		return false, err
	}
	scope.Owner = d.Owner
	if err := r.read(ctx, d, scope); err != nil {
		return false, err
	}
	if slices.ContainsFunc(d.Have.Resources, func(res stack.Resource) bool { return res.Ownership == stack.Owned }) {
		d.Job.NeverProvisioned = false
		return false, nil
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
	return true, nil
}

// canCheckPresence reports whether the request is that of the last clean run. Then it is enough
// to check that the load balancer exists, and to read what follows nodes and pods.
func (r *Reconciler) canCheckPresence(d *Draft) bool {
	if d.Intent != Serve || d.Asked == "" {
		return false
	}
	if d.last.isFresh && d.last.basis == Checked {
		return d.last.asked == d.Asked
	}
	return !d.last.isSeen && d.Job.Applied == d.Asked
}

// checkPresence reads the kinds that clients connect to and the kinds that follow the nodes and
// pods. False: the load balancer was not found.
func (r *Reconciler) checkPresence(ctx context.Context, d *Draft, scope providers.Scope) (bool, error) {
	scope.Only = r.checkedKinds()
	if !slices.ContainsFunc(scope.Only, r.followsBackends) {
		scope.Depth, scope.Only = providers.Shallow, nil
	}
	if err := r.read(ctx, d, scope); err != nil {
		return false, err
	}
	d.Basis, d.origin = Checked, Checked
	return r.isServing(d.Have), nil
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

// isElsewhere reports whether the user has moved the Service to another place, by an annotation,
// since the last valid request. Annotations that Berth writes itself do not count.
func (r *Reconciler) isElsewhere(d *Draft) bool {
	good := d.last.good
	if good == nil || len(r.cloud.OnDelete) == 0 {
		return false
	}
	wrote := r.cloud.Status(*good, d.last.Have).Annotations
	return slices.ContainsFunc(r.cloud.OnDelete, func(key string) bool {
		value := d.Job.Service.Annotations[key]
		return value != good.Service.Annotations[key] && value != wrote[key]
	})
}

// cameBack reports whether a member of the last run is another machine now. A cloud that
// identifies members by name may have removed the old one, and only a read shows that.
func (r *Reconciler) cameBack(d *Draft) bool {
	return r.cloud.NamedMembers && d.last.good != nil && len(d.Request.Backends.Nodes.CameBack(d.last.good.Backends.Nodes)) > 0
}

// read reads the cloud, and removes from the result what this process has deleted before.
func (r *Reconciler) read(ctx context.Context, d *Draft, scope providers.Scope) error {
	began := r.options.Now()
	found := r.reader.Read(ctx, scope)
	if found.Err != nil {
		return found.Err
	}
	d.observe(found.Have.Clone(), began, Read)
	d.Have.Owner, d.Facts, d.Blind = d.Owner, found.Facts, found.Blind
	if d.Intent != Release {
		r.observed.DropDeleted(d.Have, began)
	}
	r.observed.Listed(d.Have, began)
	return nil
}
