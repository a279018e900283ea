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
	// manual are the actions that need more permissions.
	manual manualActions
	// unproven are the shared resources that were found without proof, with the load balancer,
	// and are not desired: another read cannot prove more.
	unproven map[stack.Key]bool
}

// last returns the snapshot of a Service, however old it is.
func (r *Reconciler) last(o stack.Owner) snapshot {
	snap, _ := r.snapshots.Last(o)
	return snap
}

// isSeen reports whether the process has read the Service before, however long ago and whatever
// the outcome.
func (r *Reconciler) isSeen(o stack.Owner) bool {
	_, seen := r.snapshots.Last(o)
	return seen
}

// Distrust drops the observed stack of a Service, so that the next draft reads everything. The
// last valid request is kept.
func (r *Reconciler) Distrust(o stack.Owner) { r.snapshots.Put(o, snapshot{good: r.last(o).good}) }

// cameBack reports whether a member of the last run is another machine now. A cloud that
// identifies members by name may have removed the old one, and only a read shows that.
func (r *Reconciler) cameBack(d *Draft, snap snapshot) bool {
	return r.cloud.NamedMembers && snap.good != nil && len(d.Request.Backends.Nodes.CameBack(snap.good.Backends.Nodes)) > 0
}
