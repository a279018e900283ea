package reconcile

import (
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
)

// snapshot is the cached state of one Service, and what is kept of its last run.
type snapshot struct {
	observed.Snapshot
	// blind are the kinds that the read could not see.
	blind providers.Blind
	// basis is that of the first draft: Assumed ones have what this process has created, Checked
	// ones the load balancer and its parts that follow nodes and pods.
	basis Basis
	// asked is the digest of the request.
	asked string
	// clean is the digest of the input after whose run nothing was left to do.
	clean string
	// good is the last request that was built without errors: when the user writes an invalid
	// value, backends follow the nodes by this one.
	good *providers.Request
	// warnings are from the last build: a later run that finds nothing to do builds
	// nothing, and reports them again.
	warnings annotations.Problems
	// inUse is the delay before re-checking whether others use a resource that is to be
	// deleted. It doubles while they do.
	inUse time.Duration
	// late is when to read again what calls of a previous process have created late; zero: none
	// can have. It is valid with isLateKnown.
	late        time.Time
	isLateKnown bool
	// contested is until when to read again what another controller may have deleted; zero: nothing.
	contested time.Time
	// manual are the actions that need more permissions.
	manual manualActions
	// unproven are the shared resources that were found without proof, with the load balancer,
	// and are not desired: another read cannot prove more.
	unproven map[stack.Key]bool
}

// lastSnapshot returns the snapshot of a Service, however old it is.
func (r *Reconciler) lastSnapshot(o stack.Owner) snapshot {
	snap, _ := r.snapshots.Last(o)
	return snap
}

// recalled is what the process knows of a Service when a draft begins to observe.
type recalled struct {
	snapshot
	isSeen  bool // the process has read the Service before, however long ago and whatever the outcome
	isFresh bool // the snapshot may be used in place of a read
}

// recall returns the snapshot of a Service.
func (r *Reconciler) recall(o stack.Owner) (out recalled) {
	out.snapshot, out.isSeen = r.snapshots.Last(o)
	_, out.isFresh = r.snapshots.Fresh(o)
	return out
}

// Distrust drops the observed stack of a Service, so that the next draft reads everything. The
// last valid request is kept.
func (r *Reconciler) Distrust(o stack.Owner) {
	last := r.lastSnapshot(o)
	r.snapshots.Put(o, snapshot{good: last.good, late: last.late, isLateKnown: last.isLateKnown})
}

// distrustSnapshot does so in a draft, which observes again then.
func (r *Reconciler) distrustSnapshot(o stack.Owner) (recalled, phase) {
	r.Distrust(o)
	return r.recall(o), toObserve
}
