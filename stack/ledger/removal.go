package ledger

import (
	"time"

	"github.com/berth-lb/berth/stack"
)

// removalAge is how long the end of a removal is remembered: longer than anything that
// is known of an entry is believed without a new read.
const removalAge = 24 * time.Hour

// removal is the last time at which an entry was on its way out.
type removal struct {
	calls int           // that remove it now
	done  chan struct{} // closed when they have ended
	ended time.Time     // of the last one
}

// BeginRemoval notes that a call is about to remove the entry. It is to be called
// before the last look at who else wants it: whoever enters after that look then finds
// the removal, and whoever entered before it is found by the look.
func (l *Ledger) BeginRemoval(entry stack.Resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := entryID{entry.In, entry.Key}
	r := l.removals[id]
	if r == nil {
		r = &removal{}
		l.removals[id] = r
	}
	if r.calls == 0 {
		r.done = make(chan struct{})
	}
	r.calls++
}

// EndRemoval notes that the call has ended, whatever became of it.
func (l *Ledger) EndRemoval(entry stack.Resource, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.removals[entryID{entry.In, entry.Key}]
	if r == nil || r.calls == 0 {
		return
	}
	r.ended = now
	if r.calls--; r.calls == 0 {
		close(r.done)
	}
	for id, old := range l.removals {
		if old.calls == 0 && now.Sub(old.ended) > removalAge {
			delete(l.removals, id)
		}
	}
}

// RemovedSince tells whether what was known of the entry at a time may be wrong,
// because a call has been removing it since. The channel is closed when that call has
// ended; nil: it has.
func (l *Ledger) RemovedSince(entry stack.Resource, known time.Time) (<-chan struct{}, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	r := l.removals[entryID{entry.In, entry.Key}]
	switch {
	case r == nil:
		return nil, false
	case r.calls > 0:
		return r.done, true
	}
	return nil, !known.After(r.ended)
}
