package observed

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
)

// slots is the number of moments in an interval at which reads for drift are due. A cloud that
// lists all resources for one Service does so once for all Services that are due at the same
// moment: read one by one, hundreds of Services would cost thousands of calls in each interval.
const slots = 30

// Snapshot is the observed stack of one Service after its last run.
type Snapshot struct {
	Have *stack.Stack // nil: unknown
	At   time.Time    // when its read began
	// Partial is set if the read was a presence check.
	Partial bool
	// Recheck is when to read again whether the resources exist; zero: when the snapshot has
	// aged.
	Recheck time.Time
}

// Snapshots holds a value with a snapshot for every Service. It is safe for concurrent use.
type Snapshots[T any] struct {
	Options
	in    func(*T) *Snapshot
	lists lists

	mu  sync.Mutex
	all map[stack.Owner]T
}

// NewSnapshots returns an empty set; in returns the snapshot inside of a value.
func NewSnapshots[T any](o Options, in func(*T) *Snapshot) *Snapshots[T] {
	return &Snapshots[T]{Options: o, in: in, all: map[stack.Owner]T{}}
}

// Last returns the value of a Service, however old it is. False: the Service was never put.
func (s *Snapshots[T]) Last(o stack.Owner) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.all[o]
	return value, ok
}

// Fresh returns the value of a Service. False: a new read is due.
func (s *Snapshots[T]) Fresh(o stack.Owner) (T, bool) {
	value, ok := s.Last(o)
	snap := s.in(&value)
	return value, ok && snap.Have != nil && s.Now().Before(s.dueAt(o, snap))
}

// Due returns how long until the next read for drift: a whole interval for a Service that was
// never read.
func (s *Snapshots[T]) Due(o stack.Owner) time.Duration {
	value, _ := s.Last(o)
	snap := s.in(&value)
	if snap.Have == nil {
		return s.Interval
	}
	return max(s.dueAt(o, snap).Sub(s.Now()), 0)
}

// dueAt spreads the reads: by a tenth of the interval after a full read, over the whole interval
// after a presence check, so that a restart does not read everything at once half an hour later.
// Reads that are due at about the same time are due at the same moment.
func (s *Snapshots[T]) dueAt(o stack.Owner, snap *Snapshot) time.Time {
	if !snap.Recheck.IsZero() {
		return snap.Recheck
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.UID)) // never fails
	share, slot := float64(h.Sum32()%1000)/1000, s.Interval/slots
	due := snap.At.Add(s.Interval - slot - time.Duration(share*0.1*float64(s.Interval)))
	if snap.Partial {
		due = snap.At.Add(time.Duration(share * float64(s.Interval-slot)))
	}
	return due.Truncate(slot).Add(slot)
}

// Put replaces the value of a Service.
func (s *Snapshots[T]) Put(o stack.Owner, value T) {
	if have := s.in(&value).Have; have != nil {
		s.lists.share(have)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[o] = value
}

// Expire makes a read of a Service due.
func (s *Snapshots[T]) Expire(o stack.Owner) {
	if value, ok := s.Last(o); ok {
		s.in(&value).At, s.in(&value).Recheck = time.Time{}, time.Time{}
		s.Put(o, value)
	}
}

// Drop removes the value of a Service.
func (s *Snapshots[T]) Drop(o stack.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, o)
}
