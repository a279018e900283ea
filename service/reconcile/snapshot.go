package reconcile

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// snapshot is the cached state of one Service.
type snapshot struct {
	have *stack.Stack
	read time.Time // when the cloud was last asked
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
	// recheck is when to read again whether the resources exist; zero: when the snapshot has
	// aged.
	recheck time.Time
	// inUse is the delay before re-checking whether others use a resource that is to be
	// deleted. It doubles while they do.
	inUse time.Duration
	// manual are the actions that need more permissions.
	manual manualActions
	// unproven are the shared resources that were found without proof, with the load balancer,
	// and are not desired: another read cannot prove more.
	unproven map[stack.Key]bool
}

// snapshots are the snapshots of all Services.
type snapshots struct {
	now      func() time.Time
	interval time.Duration

	lists lists

	mu  sync.Mutex
	all map[stack.Owner]snapshot
}

func newSnapshots(now func() time.Time, interval time.Duration) *snapshots {
	return &snapshots{now: now, interval: interval, all: map[stack.Owner]snapshot{}}
}

// get returns the snapshot unless it is due for a new read.
func (s *snapshots) get(o stack.Owner) (snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, ok := s.all[o]
	return snap, ok && snap.have != nil && s.now().Before(s.dueAt(o, snap))
}

// seen reports whether the process has read the Service before, however long
// ago and whatever the outcome.
func (s *snapshots) seen(o stack.Owner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.all[o]
	return ok
}

// good returns the last valid request, however old the snapshot is.
func (s *snapshots) good(o stack.Owner) *providers.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[o].good
}

// clean returns the digest of the input after whose run nothing was left to do,
// however old the snapshot is.
func (s *snapshots) clean(o stack.Owner) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[o].clean
}

// last returns the snapshot of a Service, however old it is.
func (s *snapshots) last(o stack.Owner) snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[o]
}

// due returns how long until the next read for drift: a whole interval for a Service that was
// never read.
func (s *snapshots) due(o stack.Owner) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, ok := s.all[o]
	if !ok || snap.have == nil {
		return s.interval
	}
	return max(s.dueAt(o, snap).Sub(s.now()), 0)
}

// slots is the number of moments in an interval at which reads for drift are due. A cloud that
// lists all resources for one Service does so once for all Services that are due at the same
// moment: read one by one, hundreds of Services would cost thousands of calls in each interval.
const slots = 30

// dueAt spreads the reads: by a tenth of the interval after a full read, over the whole interval
// after a presence check, so that a restart does not read everything at once half an hour later.
// Reads that are due at about the same time are due at the same moment.
func (s *snapshots) dueAt(o stack.Owner, snap snapshot) time.Time {
	if !snap.recheck.IsZero() {
		return snap.recheck
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.UID)) // never fails
	share, slot := float64(h.Sum32()%1000)/1000, s.interval/slots
	due := snap.read.Add(s.interval - slot - time.Duration(share*0.1*float64(s.interval)))
	if snap.basis == Checked {
		due = snap.read.Add(time.Duration(share * float64(s.interval-slot)))
	}
	return due.Truncate(slot).Add(slot)
}

func (s *snapshots) put(o stack.Owner, snap snapshot) {
	if snap.have != nil {
		s.lists.share(snap.have)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[o] = snap
}

// distrust drops the observed stack but keeps the last valid request.
func (s *snapshots) distrust(o stack.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[o] = snapshot{good: s.all[o].good}
}

// age marks the snapshot of a Service as due for a new read, as if its time had expired.
func (s *snapshots) age(o stack.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap, ok := s.all[o]; ok {
		snap.read, snap.recheck = time.Time{}, time.Time{}
		s.all[o] = snap
	}
}

func (s *snapshots) drop(o stack.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, o)
}

// cameBack reports whether a member of the last run is another machine now. A cloud that
// identifies members by name may have removed the old one, and only a read shows that.
func (r *Reconciler) cameBack(d *Draft, snap snapshot) bool {
	return r.cloud.NamedMembers && snap.good != nil && len(d.Request.Backends.Nodes.CameBack(snap.good.Backends.Nodes)) > 0
}
