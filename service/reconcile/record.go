package reconcile

import (
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/observed"
)

// finishDraft ends a draft whose plan can be run. A presence check that shows no difference is
// remembered here, as nothing is run for it.
func (r *Reconciler) finishDraft(d *Draft) {
	d.Found = r.listServing(d.Have)
	if !d.replaced {
		d.Problems = append(d.Problems, d.problems...)
	}
	if d.Basis == Checked && d.Plan.Empty() {
		d.Clean = true
		r.snapshots.Put(d.Owner, r.snapshotOf(d, d.Have, d.Digest))
	}
}

// record records what the steps of a run have shown and changed.
func (r *Reconciler) record(d *Draft, report engine.Report) {
	if d.Basis >= Remembered {
		r.holdAdmitting(d.Owner, report.Have)
	}
	r.recordIdentitiesAfter(d, report)
	r.refused.note(d.Owner, d.Asked, report)
}

// remember keeps the state after a run as the snapshot, unless the cloud has contradicted it, or
// a resource in it blocks a step and may not exist at the next draft.
func (r *Reconciler) remember(d *Draft, res Result) {
	last := r.lastSnapshot(d.Owner)
	late := r.lateRead(d, last)
	if res.Report.Stale() || d.Obstructed() {
		if !d.Problems.Errors() {
			last.good = &d.Request
		}
		r.snapshots.Put(d.Owner, snapshot{good: last.good, late: late, isLateKnown: true})
		return
	}
	clean := ""
	if res.Clean {
		clean = d.Digest
	}
	snap := r.snapshotOf(d, res.Report.Have, clean)
	switch snap.Recheck = r.recheckAt(d, snap.Have); {
	case res.Addresses == DoubtedAddresses:
		snap.Recheck = r.observed.StaleUntil()
	case snap.Recheck.IsZero() && res.Report.Used():
		snap.inUse = max(sharedWait, 2*last.inUse)
		if snap.inUse < r.options.DriftInterval {
			snap.Recheck = r.options.Now().Add(snap.inUse)
		}
	case snap.Recheck.IsZero() && last.inUse > 0 && last.At.Equal(d.read):
		snap.inUse, snap.Recheck = last.inUse, last.Recheck // there was no read since
	}
	snap.late, snap.isLateKnown = late, true
	snap.contested = r.contestedUntil(d, res, last.contested)
	for _, at := range []time.Time{late, snap.contested.Add(contestedSoon - contestedWait), snap.contested, r.observed.DoubtedUntil(d.Have, d.read)} {
		if d.read.Before(at) && r.isSooner(at, snap.Recheck) {
			snap.Recheck = at
		}
	}
	r.snapshots.Put(d.Owner, snap)
}

// isSooner reports whether a read is due before a recheck, or before the read for drift if there
// is none.
func (r *Reconciler) isSooner(at, recheck time.Time) bool {
	if recheck.IsZero() {
		return at.Sub(r.options.Now()) < r.options.DriftInterval
	}
	return at.Before(recheck)
}

// snapshotOf returns the snapshot of a draft that serves, after its run.
func (r *Reconciler) snapshotOf(d *Draft, have *stack.Stack, clean string) snapshot {
	snap := r.newSnapshot(d, have)
	snap.asked, snap.clean, snap.warnings = d.Asked, clean, d.problems
	if d.Problems.Errors() {
		snap.good = d.last.good
	} else {
		good := d.Request
		snap.good = &good
	}
	return snap
}

// newSnapshot returns the snapshot of a draft after its run, without its request.
func (r *Reconciler) newSnapshot(d *Draft, have *stack.Stack) snapshot {
	seen := observed.Snapshot{Have: withoutForeign(have, d.Want), At: d.read, Partial: d.origin == Checked}
	return snapshot{Snapshot: seen, blind: d.Blind, basis: d.origin, manual: d.manual, unproven: r.listUnproven(d)}
}

// withoutForeign leaves out the entries of other owners that a read returned.
func withoutForeign(have, want *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, res := range have.Resources {
		if res.Proof == stack.None && res.In != (stack.Key{}) && res.Ownership == stack.Shared {
			if _, wanted := want.Get(res.Key); !wanted {
				continue
			}
		}
		out.Resources = append(out.Resources, res)
	}
	return out
}

// listUnproven returns the shared resources that a draft has found without proof and does not
// desire, if the load balancer was found: such a read cannot prove more.
func (r *Reconciler) listUnproven(d *Draft) map[stack.Key]bool {
	if d.Basis == Read && !r.isServing(d.Have) {
		return nil
	}
	out := map[stack.Key]bool{}
	for _, res := range d.Have.Resources {
		_, wanted := d.Want.Get(res.Key)
		if res.Ownership == stack.Shared && res.Proof == stack.None && !wanted && (d.Basis == Read || d.unproven[res.Key]) {
			out[res.Key] = true
		}
	}
	return out
}
