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

// Causes of work, by their urgency: what a user is waiting for comes first.
const (
	byDrift     = kit.Background // drift check, start-up
	byNodes     = kit.Nodes      // nodes came or went
	byEndpoints = kit.Endpoints  // pods came or went
	byRetry     = kit.Retry      // something failed or is being waited for
	byUser      = kit.User       // the Service was created, changed or deleted, or its namespace labelled
	urgencies   = byUser + 1     // how many there are
)

// errOvertaken ends the reading for a cause that nobody waits for when somebody
// comes to wait for the Service.
var errOvertaken = errors.New("the Service has changed meanwhile")

// queue hands out keys of Services, each to one taker at a time: the most urgent
// first, among equals the one that has waited longest. What becomes of a key that is
// added while it is taken is handed out again when it is done.
type queue struct {
	clock  clock.WithDelayedExecution
	waited func(cause string, d time.Duration) // is told of every key that is taken
	most   int                                 // how many keys of causes below byRetry may be taken at a time

	mu     sync.Mutex
	wake   *sync.Cond
	keys   map[string]*queued
	lists  [urgencies]list.List // of *queued
	quiet  int                  // how many keys below byRetry are taken
	closed bool
}

// queued is a key that waits, is taken, or is due later.
type queued struct {
	key    string
	cause  kit.Urgency   // the highest of those for which it waits
	place  *list.Element // nil: it does not wait
	since  time.Time     // when it began to wait
	asked  time.Time     // when the work for which it waits was asked for; zero: it is not
	taken  *taken        // nil: nobody has it
	again  bool          // it was added while it was taken
	timer  clock.Timer   // nil: it is not due later
	timers int           // how many there have been
	due    time.Time
	later  kit.Urgency // why it is due
}

// taken is a key in the hands of who works on it.
type taken struct {
	turn   kit.Turn
	cancel context.CancelCauseFunc // ends the reading; nil: nothing can be ended
	raise  func()                  // gives what is under way the turn of a user
}

func newQueue(c clock.WithDelayedExecution, waited func(cause string, d time.Duration), most int) *queue {
	q := &queue{clock: c, waited: waited, most: most, keys: map[string]*queued{}}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// Add queues a key for a cause. Reading that nobody waits for makes way for a user.
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

// overtake sees to it that a user does not wait behind others for what is under way: it
// ends if it only reads, and else goes on in the user's turn.
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

// Raisable says how what is under way for a taken key gets the turn of a user who comes.
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

// ripe queues a key that was due at its nth timer, unless that was unset meanwhile.
func (q *queue) ripe(k *queued, nth int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k.timer == nil || k.timers != nth || q.closed {
		return
	}
	k.timer = nil
	q.add(k.key, k.later)
}

// unset forgets when a key is due.
func (k *queued) unset() {
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
}

// Get takes the next key, and says for what turn; false when the queue is closed.
// What a key was due for later is dealt with by whoever has it now.
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
		k, _ := q.lists[u].Remove(first).(*queued) // the lists hold nothing else
		q.waited(word(u), q.clock.Since(k.since))
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

// Done gives a key back. What was added meanwhile waits from now on.
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

// GoOn queues a taken key after a time for the work that it was taken for: that is
// as old as it was.
func (q *queue) GoOn(key string, wait time.Duration, cause kit.Urgency) {
	q.mu.Lock()
	if k := q.entry(key); k.taken != nil {
		k.asked = k.taken.turn.Since
	}
	q.mu.Unlock()
	q.AddAfter(key, wait, cause)
}

// Interruptible returns the context of the reading for a taken key: it ends when a
// user comes for whom nobody reads yet. done ends that.
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

// Close lets nobody take a key any more.
func (q *queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, k := range q.keys {
		k.unset()
	}
	q.wake.Broadcast()
}

// word is what the metrics call a cause.
func word(u kit.Urgency) string { return metrics.Causes()[u] }

// depth is how many keys wait by cause, and for how long the first one has.
func (q *queue) depth() ([]int, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]int, len(q.lists))
	for u := range q.lists {
		out[u] = q.lists[u].Len()
	}
	return out, q.longest()
}

// oldest is for how long the first key has waited; zero if none waits.
func (q *queue) oldest() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.longest()
}

// longest is oldest with the lock held. A key moves between the lists when its
// cause changes, so their order does not tell.
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
