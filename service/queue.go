package service

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/metrics"
)

// Causes of work, by priority: changes by users first.
const (
	byDrift     = kit.Background // drift check, start-up
	byNodes     = kit.Nodes      // nodes were added or removed
	byEndpoints = kit.Endpoints  // pods were added or removed
	byRetry     = kit.Retry      // a failure or a wait
	byUser      = kit.User       // the Service or the labels of its namespace changed
	urgencies   = byUser + 1     // number of causes
)

// errOvertaken cancels a read without a waiting user when a user changes the Service.
var errOvertaken = errors.New("the Service has changed meanwhile")

// queue returns keys of Services, each to one worker at a time: by priority, then by
// waiting time. A key that is added while a worker has it is returned again when that
// worker is done.
type queue struct {
	clock  clock.WithDelayedExecution
	waited func(cause string, d time.Duration) // called for every key that is taken
	most   int                                 // maximum number of taken keys of causes below byRetry

	mu     sync.Mutex
	wake   *sync.Cond
	keys   map[string]*queued
	lists  [urgencies]list.List // of *queued
	quiet  int                  // number of taken keys below byRetry
	closed bool
}

// queued is a key that waits, is taken, or is due later.
type queued struct {
	key    string
	cause  kit.Urgency   // the highest of the pending causes
	place  *list.Element // nil: it does not wait
	since  time.Time     // start of the wait
	asked  time.Time     // time of the request for the pending work; zero: none
	taken  *taken        // nil: no worker has it
	again  bool          // it was added while it was taken
	timer  clock.Timer   // nil: it is not due later
	timers int           // number of timers so far
	due    time.Time
	later  kit.Urgency // cause of the delayed work
}

// taken is a key that a worker has.
type taken struct {
	turn   kit.Turn
	cancel context.CancelCauseFunc // cancels the read; nil: nothing can be cancelled
	raise  func()                  // raises the priority of pending calls to a user's
}

func newQueue(c clock.WithDelayedExecution, waited func(cause string, d time.Duration), most int) *queue {
	q := &queue{clock: c, waited: waited, most: most, keys: map[string]*queued{}}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// Add queues a key for a cause. A user's change cancels a read for a lower cause.
func (q *queue) Add(key string, cause kit.Urgency) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(key, cause)
}

func (q *queue) add(key string, cause kit.Urgency) {
	k := q.entry(key)
	if k.asked.IsZero() {
		k.asked = q.clock.Now()
	}
	switch {
	case k.taken != nil:
		k.again, k.cause = true, max(k.cause, cause)
		k.overtake()
		return
	case k.place == nil:
		k.cause, k.since = cause, q.clock.Now()
	case cause <= k.cause:
		return
	default:
		q.lists[k.cause].Remove(k.place)
		k.cause = cause
	}
	k.place = q.lists[k.cause].PushBack(k)
	q.wake.Signal()
}

// overtake prevents that a user waits for pending work of lower priority: a read is
// cancelled, other work continues with the user's priority.
func (k *queued) overtake() {
	t := k.taken
	switch {
	case !k.again || k.cause != byUser || t.turn.Urgency >= byUser:
	case t.cancel != nil:
		t.cancel(errOvertaken)
	case t.raise != nil:
		t.raise()
	}
}

// Raisable sets the function that raises the priority of a taken key to a user's.
func (q *queue) Raisable(key string, raise func(since time.Time)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.entry(key); k.taken != nil {
		k.taken.raise = func() { raise(q.clock.Now()) }
		k.overtake()
	}
}

func (q *queue) entry(key string) *queued {
	k, ok := q.keys[key]
	if !ok {
		k = &queued{key: key}
		q.keys[key] = k
	}
	return k
}

// AddAfter queues a key after a time, if it is not due before that.
func (q *queue) AddAfter(key string, wait time.Duration, cause kit.Urgency) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k, due := q.entry(key), q.clock.Now().Add(wait)
	if q.closed || k.timer != nil && !due.Before(k.due) {
		return
	}
	k.unset()
	k.due, k.later = due, cause
	k.timers++
	nth := k.timers
	// A clock may call back before it returns, and with its own lock held.
	k.timer = q.clock.AfterFunc(max(wait, time.Millisecond), func() { go q.ripe(k, nth) })
}

// ripe queues a key whose nth timer has expired, unless that was unset meanwhile.
func (q *queue) ripe(k *queued, nth int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k.timer == nil || k.timers != nth || q.closed {
		return
	}
	k.timer = nil
	q.add(k.key, k.later)
}

// unset cancels the timer of a key.
func (k *queued) unset() {
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
}

// Get takes the next key, with its turn; false when the queue is closed. It also
// completes the delayed work of the key.
func (q *queue) Get() (key string, turn kit.Turn, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return "", kit.Turn{}, false
		}
		if k := q.next(); k != nil {
			return k.key, k.taken.turn, true
		}
		q.wake.Wait()
	}
}

func (q *queue) next() *queued {
	for u := byUser; u >= byDrift; u-- {
		first := q.lists[u].Front()
		if first == nil || u < byRetry && q.quiet >= q.most {
			continue
		}
		k, _ := q.lists[u].Remove(first).(*queued) // the lists have no other type
		q.waited(causeName(u), q.clock.Since(k.since))
		k.unset()
		k.place, k.taken = nil, &taken{turn: kit.Turn{Urgency: u, Since: k.asked}}
		k.cause, k.asked = byDrift, time.Time{}
		if u < byRetry {
			q.quiet++
		}
		return k
	}
	return nil
}

// Done returns a key. A cause that was added meanwhile waits from now on.
func (q *queue) Done(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.entry(key)
	if k.taken == nil {
		return
	}
	if k.taken.turn.Urgency < byRetry {
		q.quiet--
		q.wake.Signal()
	}
	k.taken = nil
	switch {
	case k.again:
		k.again = false
		q.add(key, k.cause)
	case k.timer == nil:
		delete(q.keys, key)
	}
}

// GoOn queues a taken key after a time for the same work, with its original age.
func (q *queue) GoOn(key string, wait time.Duration, cause kit.Urgency) {
	q.mu.Lock()
	if k := q.entry(key); k.taken != nil {
		k.asked = k.taken.turn.Since
	}
	q.mu.Unlock()
	q.AddAfter(key, wait, cause)
}

// Interruptible returns the context of a read for a taken key: it is cancelled by a
// user's change. done ends that.
func (q *queue) Interruptible(ctx context.Context, key string) (reading context.Context, done func()) {
	reading, cancel := context.WithCancelCause(ctx)
	set := func(c context.CancelCauseFunc) {
		q.mu.Lock()
		defer q.mu.Unlock()
		if k := q.entry(key); k.taken != nil {
			k.taken.cancel = c
			k.overtake()
		}
	}
	set(cancel)
	return reading, func() {
		set(nil)
		cancel(nil)
	}
}

// Close ends the queue: no key can be taken any more.
func (q *queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, k := range q.keys {
		k.unset()
	}
	q.wake.Broadcast()
}

// causeName returns the name of a cause in metrics.
func causeName(u kit.Urgency) string { return metrics.Causes()[u] }

// depth returns the number of waiting keys by cause, and the longest wait.
func (q *queue) depth() ([]int, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]int, len(q.lists))
	for u := range q.lists {
		out[u] = q.lists[u].Len()
	}
	return out, q.longest()
}

// oldest returns the wait of the first key; zero if none waits.
func (q *queue) oldest() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.longest()
}

// longest is oldest with the lock held. A key moves between the lists when its
// cause changes, so their order is not sufficient.
func (q *queue) longest() time.Duration {
	now, longest := q.clock.Now(), time.Duration(0)
	for u := range q.lists {
		for e := q.lists[u].Front(); e != nil; e = e.Next() {
			if k, ok := e.Value.(*queued); ok {
				longest = max(longest, now.Sub(k.since))
			}
		}
	}
	return longest
}
