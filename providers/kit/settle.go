package kit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// earliest and latest bound the first poll for a waiter.
	earliest, latest = 150 * time.Millisecond, 2 * time.Second
	// closest and widest bound the pause between two polls, which is a quarter of the usual
	// duration of a change: waiters that arrive meanwhile share the next one.
	closest, widest = 250 * time.Millisecond, time.Second
	// latestAlone bounds it if a poll is about one resource.
	latestAlone = 15 * time.Second
	// longest is the longest pause between two polls of the same resource.
	longest = 5 * time.Second
)

// Settling waits for resources that are busy with a change, such as load balancers that
// accept one change at a time. One poll serves all waiters. It learns how long changes
// take, and does not poll earlier.
type Settling struct {
	ask     func(context.Context, []string) (map[string]string, error)
	busy    func(state string) bool
	mu      sync.Mutex
	waiting map[string][]*settleWaiter
	running bool
	woken   chan struct{} // a waiter has arrived
	asked   time.Time     // the last poll
	pace    pace
}

// settleWaiter is one caller waiting for a resource to become stable.
type settleWaiter struct {
	since, due time.Time
	busy       time.Duration // time for which it was seen busy
	done       chan string
}

// NewSettling returns a Settling that reads the states of resources by their ids with ask;
// busy reports transitional states. A resource whose state could not be read has no entry, and
// is polled again; the other entries are used, also beside an error.
func NewSettling(ask func(context.Context, []string) (map[string]string, error), busy func(state string) bool) *Settling {
	return &Settling{ask: ask, busy: busy, waiting: map[string][]*settleWaiter{}, woken: make(chan struct{}, 1), pace: pace{rest: closest, first: earliest}}
}

// OneByOne polls only resources that may have settled, for clouds where a poll is about one
// resource: combined polls would cost the same. It returns w.
func (w *Settling) OneByOne() *Settling {
	w.pace.each = true
	return w
}

// InPages polls resources that may have settled, where one call asks for n of them. A poll is put off
// until a page is full, by a quarter of the usual duration at most; its last page is filled with
// resources that are due next. It returns w.
func (w *Settling) InPages(n int) *Settling {
	w.pace.page = n
	return w
}

// Resting sets the minimum pause before a poll, for a cloud whose changes rarely take less:
// one answer then reports everything that has ended. It returns w.
func (w *Settling) Resting(pause time.Duration) *Settling {
	w.pace.rest, w.pace.first = pause, pause
	return w
}

// Usually declares how long changes of this cloud usually take; the pauses and their bounds
// follow from it. Measurements correct the declaration, the first one early. It returns w.
func (w *Settling) Usually(d time.Duration) *Settling {
	w.pace.declared, w.pace.usual = d, d
	return w
}

// Wait returns the state in which a resource has settled, or the context's error.
func (w *Settling) Wait(ctx context.Context, id string) (string, error) {
	return w.WaitFrom(ctx, id, time.Now())
}

// WaitFrom is Wait for a change that began earlier. Its age counts from then: a wait that begins late
// says nothing about how long changes take.
func (w *Settling) WaitFrom(ctx context.Context, id string, began time.Time) (string, error) {
	mine := w.join(ctx, id, began)
	select {
	case status := <-mine.done:
		return status, nil
	case <-ctx.Done():
		w.leave(id, mine)
		return "", ctx.Err()
	}
}

func (w *Settling) join(ctx context.Context, id string, began time.Time) *settleWaiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	mine := &settleWaiter{since: began, due: began.Add(w.pace.begin()), done: make(chan string, 1)}
	w.waiting[id] = append(w.waiting[id], mine)
	if !w.running {
		w.running = true
		go w.run(context.WithoutCancel(ctx))
		return mine
	}
	select {
	case w.woken <- struct{}{}:
	default:
	}
	return mine
}

// leave removes a waiter, so that its resource is not polled any more.
func (w *Settling) leave(id string, mine *settleWaiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[id] = slices.DeleteFunc(w.waiting[id], func(other *settleWaiter) bool { return other == mine })
	if len(w.waiting[id]) == 0 {
		delete(w.waiting, id)
	}
}

// run polls until there are no waiters. What a failed poll has not answered is asked for again.
func (w *Settling) run(ctx context.Context) {
	for {
		pause, more := w.next()
		switch {
		case !more:
			return
		case pause > 0:
			w.sleep(pause)
			continue
		}
		ids := w.left()
		answers, _ := w.ask(ctx, ids) // an error is about resources without an entry
		w.answer(ids, answers)
	}
}

// sleep pauses, unless a waiter arrives that is due before.
func (w *Settling) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.woken:
	}
}

// next returns the time until the next poll; false if there are no waiters, and then
// polling ends.
func (w *Settling) next() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = len(w.waiting) > 0
	if !w.running {
		return 0, false
	}
	list := w.byDue()
	due := list[0].due
	if n := w.pace.page; n > 0 {
		if full, late := list[min(n, len(list))-1].due, due.Add(w.pace.patience()); full.Before(late) {
			due = full
		} else {
			due = late
		}
	} else if soon := w.asked.Add(w.pace.spacing()); due.Before(soon) && len(list) > 1 && !w.pace.each {
		due = soon // with one poll for several of them
	}
	return time.Until(due), true
}

// dueResource is a resource with the time from which it may have settled.
type dueResource struct {
	id  string
	due time.Time
}

// byDue returns the resources that are waited for, the one that is due first at the front. The lock is
// held.
func (w *Settling) byDue() []dueResource {
	out := make([]dueResource, 0, len(w.waiting))
	for id, all := range w.waiting {
		one := dueResource{id, all[0].due}
		for _, other := range all[1:] {
			if other.due.Before(one.due) {
				one.due = other.due
			}
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b dueResource) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.id, b.id)) })
	return out
}

// left returns the resources to poll.
func (w *Settling) left() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Now()
	list := w.byDue()
	due := slices.IndexFunc(list, func(r dueResource) bool { return r.due.After(w.asked) })
	switch n := w.pace.page; {
	case due < 0, n == 0 && !w.pace.each:
		due = len(list)
	case n > 0:
		due = min((due+n-1)/n*n, len(list))
	}
	ids := make([]string, 0, due)
	for _, r := range list[:due] {
		ids = append(ids, r.id)
	}
	return ids
}

// answer distributes an answer, to the waiters that were waiting when the poll was sent.
func (w *Settling) answer(asked []string, answers map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var youngest *settleWaiter
	for _, id := range asked {
		all := w.waiting[id]
		status, answered := answers[id]
		settled := answered && !w.busy(status)
		w.waiting[id] = slices.DeleteFunc(all, func(one *settleWaiter) bool {
			age := w.asked.Sub(one.since)
			switch {
			case !settled:
				w.postpone(one, answered)
				return false
			case age < 0: // the answer is older than the wait
				return false
			case youngest == nil || one.since.After(youngest.since):
				youngest = one
			}
			one.done <- status
			return true
		})
		if len(w.waiting[id]) == 0 {
			delete(w.waiting, id)
		}
	}
	if youngest != nil {
		w.pace.learn(youngest.since, youngest.busy, w.asked.Sub(youngest.since))
	}
}

// postpone schedules the next poll for a waiter, after a pause that grows with the wait.
func (w *Settling) postpone(one *settleWaiter, answered bool) {
	age := w.asked.Sub(one.since)
	if age < 0 {
		return // it arrived after the poll
	}
	one.due = w.asked.Add(w.pace.again(age))
	if answered {
		one.busy = age
	}
}
