package reconcile

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// shownFor is how long a cloud may go on showing what it has removed. The clouds that
// answer from copies name no bound; AWS speaks of seconds.
const shownFor = 30 * time.Second

// removed are the things that this process has removed lately: a read that still shows one
// is older than the removal. And those of one owner that it has made lately and not removed:
// a read that does not show one is older than that. It is safe for concurrent use.
type removed struct {
	mu   sync.Mutex
	all  map[place]removal
	made map[place]made
}

// made is what was made last at a place.
type made struct {
	id string    // none: the call was not answered
	at time.Time // when the call ended
}

// place is where something was.
type place struct {
	owner stack.Owner // of what is its alone; none: it was shared
	entry entry
}

// removal is what was removed last from a place, by the identifier that it had.
type removal struct {
	id    string
	at    time.Time // when the call ended
	again bool      // the place was filled since, as far as is known by what had the same identifier
}

func newRemoved() *removed { return &removed{all: map[place]removal{}, made: map[place]made{}} }

func placeOf(o stack.Owner, res stack.Resource) place {
	if res.Ownership == stack.Shared {
		o = stack.Owner{}
	}
	return place{o, entryOf(res)}
}

// begin notes that a batch is about to be applied: what is made may be shown from now on.
func (r *removed) begin(b plan.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, step := range b.Steps {
		if step.ID.Action == plan.Create {
			r.fill(step, true)
		}
	}
}

// fill notes whether what was removed from the place that a step fills may be shown again.
func (r *removed) fill(step plan.Step, again bool) {
	at := placeOf(step.ID.Owner, step.Target)
	if old, known := r.all[at]; known {
		old.again = again
		r.all[at] = old
	}
}

// end takes over what became of a batch. What is shared may have been left to others, who
// wanted it when the call was made.
func (r *removed) end(b plan.Batch, outcomes []plan.Outcome, now time.Time, book *ledger.Ledger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, o := range outcomes[:min(len(outcomes), len(b.Steps))] {
		step := b.Steps[i]
		r.noteMade(step, o, now)
		if id := o.After.ID; step.ID.Action == plan.Create && id != "" {
			r.fill(step, r.all[placeOf(step.ID.Owner, step.Target)].id == id)
			continue
		}
		left := step.Target.Ownership == stack.Shared && len(book.Others(step.ID.Owner, step.Target)) > 0
		if step.ID.Action != plan.Delete || left || o.Sent != plan.WasSent || o.Err != nil {
			continue
		}
		r.unmake(step, o.Gone)
		if o.Wait > 0 || o.Manual != "" {
			continue
		}
		maps.DeleteFunc(r.all, func(_ place, old removal) bool { return now.Sub(old.at) > shownFor })
		r.all[placeOf(step.ID.Owner, step.Target)] = removal{id: step.Target.ID, at: now}
	}
}

// noteMade enters what a step has made, or may have made, for its owner alone. What is in
// something else goes with that.
func (r *removed) noteMade(step plan.Step, o plan.Outcome, now time.Time) {
	if step.ID.Action != plan.Create || o.Sent == plan.NotSent || step.Target.Ownership != stack.Owned || step.Target.In != (stack.Key{}) {
		return
	}
	maps.DeleteFunc(r.made, func(_ place, m made) bool { return now.Sub(m.at) > shownFor })
	r.made[placeOf(step.ID.Owner, step.Target)] = made{id: o.After.ID, at: now}
}

// unmake enters that a step has removed something for certain, and what the owner no longer
// has by it. A thing that nothing refers to any more may have another key by then than when it was
// made.
func (r *removed) unmake(step plan.Step, also []stack.Key) {
	gone := placeOf(step.ID.Owner, step.Target)
	maps.DeleteFunc(r.made, func(at place, m made) bool {
		if at.owner != gone.owner {
			return false
		}
		return at == gone || m.is(at, step.Target) || at.entry.in == (stack.Key{}) && slices.Contains(also, at.entry.key)
	})
}

// is tells whether a resource is what was made at a place, under whatever key.
func (m made) is(at place, res stack.Resource) bool {
	return m.id != "" && m.id == res.ID && at.entry.key.Kind == res.Key.Kind
}

// unseen is how long after a time, at which a read began, reads may still not show something
// that was made for an owner and, as far as is known, not removed; zero: nothing of that kind
// is left. What that read has shown says itself whose it is now.
func (r *removed) unseen(o stack.Owner, shown *stack.Stack, at time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wait time.Duration
	for place, m := range r.made {
		if place.owner != o || shown != nil && slices.ContainsFunc(shown.Resources, func(res stack.Resource) bool { return m.is(place, res) }) {
			continue
		}
		wait = max(wait, m.at.Add(shownFor).Sub(at))
	}
	return wait
}

// outOf takes out of what was found for an owner, by a read that began at a time, what was
// removed just before, and what is in it. That is no answer to whether anything is left: a
// predecessor may have made it again.
func (r *removed) outOf(have *stack.Stack, o stack.Owner, began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 {
		return
	}
	for _, res := range slices.Clone(have.Resources) {
		old, gone := r.all[placeOf(o, res)]
		if gone && !old.again && old.id == res.ID && began.Sub(old.at) <= shownFor && res.Proof != stack.None && res.State == stack.Ready {
			have.Drop(res.Key)
		}
	}
}
