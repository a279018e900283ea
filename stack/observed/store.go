package observed

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Options configure a Store.
type Options struct {
	Now func() time.Time
	// Interval is the time between two reads of a Service for drift.
	Interval time.Duration
}

// Store holds the observations of one process. It is safe for concurrent use. See New.
type Store struct {
	now      func() time.Time
	interval time.Duration
	started  time.Time

	mu        sync.Mutex
	records   map[stack.Owner]map[place]*record // shared resources have no owner
	forgotten time.Time                         // see ForgetShared
	swept     time.Time
}

// place is where a resource exists, within its owner or the cluster: what it is a part of, and
// its key.
type place struct{ in, key stack.Key }

// record holds the observations of one place.
type record struct {
	shared   *stack.Resource // as last listed or answered; nil: unknown
	at       time.Time       // when shared was observed, or became unknown
	created  creation        // the last one that was or may have been performed, and not deleted
	isOurs   bool            // created by this process shortly after its start
	deleted  deletion        // the last one that was performed
	doubt    doubt           // about the last deletion; of a part only if it is shared
	removals removals
	updates  []update // of members, the oldest first
}

// creation is the last creation of a resource of one owner.
type creation struct {
	id string    // empty: the call was not answered
	at time.Time // when the call ended; zero: there is none
}

// deletion is the last deletion that the cloud has confirmed.
type deletion struct {
	id       string
	at       time.Time // when the call ended; zero: there is none
	refilled bool      // a creation has or may have filled the place again, with the same identifier
}

// doubt is about the last deletion that was attempted, if the cloud has not confirmed it.
type doubt struct {
	id    string
	by    stack.Owner
	at    time.Time // when the call ended; zero: there is none
	maybe bool      // the deletion may have had an effect
}

// removals are the calls that delete a shared resource, whatever their outcome.
type removals struct {
	calls int           // under way
	done  chan struct{} // closed when they have ended
	ended time.Time     // of the last one
}

// New returns an empty store. The process starts now.
func New(o Options) *Store {
	return &Store{now: o.Now, interval: o.Interval, started: o.Now(), records: map[stack.Owner]map[place]*record{}}
}

// recordKey returns the owner and the place under which a resource of an owner is recorded.
func recordKey(o stack.Owner, res stack.Resource) (stack.Owner, place) {
	if res.Ownership == stack.Shared {
		o = stack.Owner{}
	}
	return o, place{res.In, res.Key}
}

// recordOf returns the record of a resource, an empty one if there is none. The lock is held.
func (s *Store) recordOf(o stack.Owner, res stack.Resource) record {
	o, p := recordKey(o, res)
	if r := s.records[o][p]; r != nil {
		return *r
	}
	return record{}
}

// change applies a change to the record of a resource. The lock is held.
func (s *Store) change(o stack.Owner, res stack.Resource, to func(*record)) {
	o, p := recordKey(o, res)
	if s.records[o] == nil {
		s.records[o] = map[place]*record{}
	}
	r := s.records[o][p]
	if r == nil {
		r = &record{}
		s.records[o][p] = r
	}
	to(r)
}

// StaleUntil returns the time from which on a read shows nothing that another process had
// deleted before the start of this one.
func (s *Store) StaleUntil() time.Time { return s.started.Add(StaleRead) }

// Begin records that a batch is about to be applied: what it creates may appear in reads from
// now on, and shared resources that it deletes may not exist any more. It is called before the
// last check for other owners, so that one of the two sees the other.
func (s *Store) Begin(b plan.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, step := range b.Steps {
		switch {
		case step.ID.Action == plan.Create:
			s.change(step.ID.Owner, step.Target, func(r *record) { r.deleted.refilled = true })
		case deletesShared(step):
			s.change(step.ID.Owner, step.Target, func(r *record) {
				if r.shared, r.at = nil, now; r.removals.calls == 0 {
					r.removals.done = make(chan struct{})
				}
				r.removals.calls++
			})
		}
	}
}

// Wrote records the outcomes of a batch that was begun. Missing outcomes are unknown.
func (s *Store) Wrote(b plan.Batch, outcomes []plan.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for i, step := range b.Steps {
		o := plan.Outcome{Sent: plan.MaybeSent}
		if i < len(outcomes) {
			o = outcomes[i]
		} else if step.ID.Action != plan.Delete {
			continue
		}
		switch step.ID.Action {
		case plan.Create:
			s.wroteCreate(step, o, now)
		case plan.Update:
			s.wroteUpdate(step, o, now)
		case plan.Delete:
			s.wroteDelete(b, step, o, now)
		case plan.Forget:
		}
	}
	s.sweep(now)
}

// deletesShared reports whether a step deletes a shared resource.
func deletesShared(step plan.Step) bool {
	return step.ID.Action == plan.Delete && step.Target.Ownership == stack.Shared
}

// isConfirmed reports whether the cloud has answered that a step is performed.
func isConfirmed(o plan.Outcome) bool { return o.Err == nil && o.Sent == plan.WasSent }

// wroteCreate records a creation with its parts. What was known of the place is of an earlier
// resource.
func (s *Store) wroteCreate(step plan.Step, o plan.Outcome, now time.Time) {
	if o.Err == nil && now.Before(s.StaleUntil().Add(longRun)) {
		for _, part := range append(slices.Clone(step.With), step.Target) {
			s.change(step.ID.Owner, part, func(r *record) { r.isOurs = true })
		}
	}
	if o.Sent != plan.NotSent || o.Err == nil {
		for _, part := range append(slices.Clone(step.With), step.Target) {
			s.change(step.ID.Owner, part, func(r *record) { r.updates = nil })
		}
	}
	s.change(step.ID.Owner, step.Target, func(r *record) {
		if id := o.After.ID; id != "" {
			r.deleted.refilled = r.deleted.id == id
		}
		if o.Sent == plan.NotSent {
			return
		}
		if r.doubt = (doubt{}); step.Target.Ownership == stack.Owned && step.Target.In == (stack.Key{}) {
			r.created = creation{id: o.After.ID, at: now}
		}
	})
	s.learn(step, o, now)
}

// wroteUpdate records an update, and the members that it added to or removed from a shared
// resource.
func (s *Store) wroteUpdate(step plan.Step, o plan.Outcome, now time.Time) {
	isOfMembers := slices.ContainsFunc(step.Changes, func(c plan.Change) bool { return len(c.Added)+len(c.Removed) > 0 })
	if isOfMembers && o.Err == nil && o.Wait == 0 && step.Target.Ownership == stack.Shared {
		s.change(step.ID.Owner, step.Target, func(r *record) {
			r.updates = append(s.recent(r.updates, now), update{step, o, now})
		})
	}
	s.learn(step, o, now)
}

// wroteDelete records the end of a deletion, and a confirmed one as such. A shared resource may
// have been left to Services that desired it when the call was made.
func (s *Store) wroteDelete(b plan.Batch, step plan.Step, o plan.Outcome, now time.Time) {
	if deletesShared(step) {
		s.change(step.ID.Owner, step.Target, func(r *record) {
			if r.removals.ended = now; r.removals.calls > 0 {
				if r.removals.calls--; r.removals.calls == 0 {
					close(r.removals.done)
				}
			}
		})
	}
	isShared := step.Target.Ownership == stack.Shared
	if isShared && b.Claims != nil && len(b.Claims.Others(step.ID.Owner, step.Target)) > 0 {
		return
	}
	if !isConfirmed(o) {
		if failed := o.Err != nil || o.Sent == plan.MaybeSent; failed && (isShared || step.Target.In == (stack.Key{})) {
			s.change(step.ID.Owner, step.Target, func(r *record) {
				r.doubt = doubt{id: step.Target.ID, by: step.ID.Owner, at: now, maybe: o.Sent != plan.NotSent || r.doubt.maybe}
			})
		}
		return
	}
	s.endCreations(step, o.Gone)
	if o.Wait > 0 || o.Manual != "" {
		return
	}
	s.change(step.ID.Owner, step.Target, func(r *record) {
		r.deleted, r.updates = deletion{id: step.Target.ID, at: now}, nil
	})
}

// endCreations records that a step has certainly deleted a resource, and that the owner does
// not have others any more. A resource that nothing refers to may have another key by then than
// when it was created.
func (s *Store) endCreations(step plan.Step, also []stack.Key) {
	o, deleted := recordKey(step.ID.Owner, step.Target)
	for at, r := range s.records[o] {
		isGone := at == deleted || at.in == (stack.Key{}) && slices.Contains(also, at.key)
		if isGone || r.created.isOf(at, step.Target) {
			r.created = creation{}
		}
		if isGone || at.in == deleted.key {
			r.doubt = doubt{}
		}
	}
}

// isOf reports whether a resource is what was created at a place, under whatever key.
func (c creation) isOf(at place, res stack.Resource) bool {
	return c.id != "" && c.id == res.ID && at.key.Kind == res.Key.Kind
}

// sweep drops the records that answer no question any more. The lock is held.
func (s *Store) sweep(now time.Time) {
	if now.Sub(s.swept) < StaleRead {
		return
	}
	s.swept = now
	for o, places := range s.records {
		maps.DeleteFunc(places, func(_ place, r *record) bool {
			r.updates = s.recent(r.updates, now)
			return r.removals.calls == 0 && len(r.updates) == 0 &&
				now.Sub(r.created.at) > longRead && now.Sub(r.deleted.at) > longRead && now.Sub(r.doubt.at) > longRead && now.Sub(r.removals.ended) > deletionAge &&
				(now.Sub(r.at) >= s.interval || r.shared == nil && now.Sub(r.at) > longRead) && (!r.isOurs || !now.Before(s.StaleUntil().Add(longRun)))
		})
		if len(places) == 0 {
			delete(s.records, o)
		}
	}
}
