package reconcile

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// load brings have and facts: from the snapshot, else by a read. Of a Service that
// was clean before the process started only what follows its nodes and pods is read.
func (r *Reconciler) load(ctx context.Context, d *Draft) error {
	if r.mayAssume(d) {
		return r.assumeAbsent(ctx, d)
	}
	scope, err := r.cloud.Scope(d.Request)
	if err != nil {
		return err
	}
	scope.Owner = d.Owner
	d.scope = scope
	snap, known := r.snapshots.get(d.Owner)
	// What could not be seen may be seen by now.
	if known && len(snap.blind) == 0 && !r.cameBack(d, snap) && !r.isElsewhere(d, snap) && (snap.basis != Glimpsed || r.mayGlimpse(d, snap, known)) {
		scope.Own = nil // facts only, mostly from the session's memory
		if err := r.read(ctx, d, scope); err != nil {
			return err
		}
		d.remembered(snap)
		d.Have = r.observed.Overlay(d.Have, d.read)
		if snap.basis == Glimpsed {
			d.Basis = Glimpsed
		}
		return nil
	}
	if r.mayGlimpse(d, snap, known) {
		if there, err := r.glimpse(ctx, d, scope); err != nil || there {
			return err
		}
	}
	return r.read(ctx, d, scope)
}

// loadBeyond brings what another request than the one that all was loaded for asks for
// besides, such as the subnet that the Service has, and not the one that it names now.
func (r *Reconciler) loadBeyond(ctx context.Context, d *Draft) error {
	scope, err := r.cloud.Scope(d.Request)
	if err != nil || scope.Within(d.scope) {
		return err
	}
	return r.load(ctx, d)
}

// isElsewhere tells whether the user has said since the last good request that something
// of the Service is in another place. What we have written there ourselves says nothing.
func (r *Reconciler) isElsewhere(d *Draft, snap snapshot) bool {
	if snap.good == nil || len(r.cloud.OnDelete) == 0 {
		return false
	}
	wrote := r.cloud.Status(*snap.good, snap.have).Annotations
	return slices.ContainsFunc(r.cloud.OnDelete, func(key string) bool {
		says := d.Job.Service.Annotations[key]
		return says != snap.good.Service.Annotations[key] && says != wrote[key]
	})
}

// unprovenBeyond tells whether something shared was found without proof and is
// not wanted any more. It was not ours to prove when it was read, before our own
// load balancer was made; only a new read can tell whether it has to go.
func unprovenBeyond(want, have *stack.Stack, strange map[stack.Key]bool) bool {
	return slices.ContainsFunc(have.Resources, func(res stack.Resource) bool {
		_, wanted := want.Get(res.Key)
		return res.Ownership == stack.Shared && res.Proof == stack.None && !wanted && !strange[res.Key]
	})
}

// strangers returns what a draft has found that is shared, without proof and nothing to the
// Service: with what serves it a read brings what proves the rest.
func (r *Reconciler) strangers(d *Draft) map[stack.Key]bool {
	if d.Basis == Read && !r.serving(d.Have) {
		return nil
	}
	out := map[stack.Key]bool{}
	for _, res := range d.Have.Resources {
		_, wanted := d.Want.Get(res.Key)
		if res.Ownership == stack.Shared && res.Proof == stack.None && !wanted && (d.Basis == Read || d.strange[res.Key]) {
			out[res.Key] = true
		}
	}
	return out
}

// madeByOthers tells whether a remembered plan for a new wish makes something that other
// Services want as well: they may have made it since the cloud was read.
func (r *Reconciler) madeByOthers(d *Draft) bool {
	snap, known := r.snapshots.get(d.Owner)
	return d.Intent == Serve && d.Basis == Remembered && known && snap.asked != d.Asked && slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool {
		return s.ID.Action == plan.Create && s.Target.Ownership == stack.Shared && len(r.ledger.Others(d.Owner, s.Target)) > 0
	})
}

// loadAnew reads all that the Service may own, whatever is known of it.
func (r *Reconciler) loadAnew(ctx context.Context, d *Draft) error {
	r.snapshots.distrust(d.Owner)
	return r.load(ctx, d)
}

// read asks the cloud.
func (r *Reconciler) read(ctx context.Context, d *Draft, scope providers.Scope) error {
	began := r.options.Now()
	found := r.reader.Read(ctx, scope)
	if found.Err != nil {
		return found.Err
	}
	d.known(found.Have.Clone(), began, Read)
	d.Have.Owner, d.Facts, d.Blind = d.Owner, found.Facts, found.Blind
	if d.Intent != Release {
		r.observed.DropDeleted(d.Have, began)
	}
	r.observed.Listed(d.Have, began)
	return nil
}

// serving tells whether a load balancer of ours, or one that serves us, is among what was
// found.
func (r *Reconciler) serving(have *stack.Stack) bool { return len(r.serves(have)) > 0 }
