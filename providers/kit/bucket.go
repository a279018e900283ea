package kit

import (
	"container/heap"
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// reserved is the part of a burst that is reserved for changes by users, so that they
	// do not wait behind a drift check of all Services.
	reserved = 0.2
	// mostReserved is the maximum of this reserve, in calls: a bucket that counts minutes
	// holds thousands, and the cloud can report that few of them are left.
	mostReserved = 20
	// slowest is the part of its rate below which a bucket is not slowed down.
	slowest = 1.0 / 16
	// firstPause and longestPause bound the time that a bucket stays closed after a refusal
	// without a time; it doubles with every consecutive refusal.
	firstPause, longestPause = 500 * time.Millisecond, 30 * time.Second
	// guessed is the rate, in calls a second, of a bucket without a documented one
	// from its first refusal on; guessedBurst is its burst, in calls.
	guessed, guessedBurst = 5, 5
	// backoff is the remaining share of the rate after a refusal.
	backoff = 0.7
	// recovery is the share of its full rate that a bucket regains with every accepted
	// call; probing is the same near the rate of the last refusal, from the share near of
	// it on.
	recovery, probing, near = 0.02, 0.002, 0.85
)

// bucket is a rate.Limiter with an order of waiters, and a rate that adapts to the
// answers of the cloud.
type bucket struct {
	Bucket
	full float64 // permitted calls a second; infinite without a documented rate
	now  func() time.Time
	room *room // of the session; nil: unlimited

	mu      sync.Mutex
	tokens  *rate.Limiter
	queue   queue
	count   uint64 // of all waiters so far, for their order
	timer   *time.Timer
	closed  time.Time   // no call before this time
	refusal int         // consecutive refusals
	ceiling float64     // calls a second at the last refusal; 0: it is unknown
	sent    []time.Time // the calls of the last window
	unknown search      // without a documented rate
}

func newBucket(b Bucket, o LimitOptions, r *room) *bucket {
	share := o.Share
	if math.IsInf(share, 1) {
		b.Rate, b.Start, b.Window, share = 0, 0, 0, 1
	}
	out := &bucket{Bucket: b, full: b.Rate * share, now: o.Now, room: r}
	burst := max(1, int(float64(b.Burst)*share))
	first := out.full
	if b.Rate <= 0 {
		out.full = float64(rate.Inf)
		first = out.full
	}
	if b.Rate <= 0 && b.Start > 0 {
		first, burst = float64(b.Start), b.Start
	}
	out.tokens = rate.NewLimiter(rate.Limit(first), burst)
	return out
}

// waiter is a call without a token.
type waiter struct {
	turn  Turn
	order uint64
	room  bool // it is sent with this token, and needs room
	last  bool // it takes no token, and waits for all calls of the same urgency
	ready chan struct{}
	index int // in the queue; -1: it has its token
}

// take returns as soon as there is a token for the context's turn, with the waiting
// time; it returns the context's error if that ends first. A call that is sent with
// this token then has its place in the room.
func (b *bucket) take(ctx context.Context, goes bool) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return b.wait(ctx, &waiter{room: goes})
}

// yield returns when no call of the context's urgency waits for a token and there is
// one, at the latest when ctx ends. It takes none.
func (b *bucket) yield(ctx context.Context) {
	_, _ = b.wait(ctx, &waiter{last: true})
}

// wait returns when it is the turn of w, with the waiting time.
func (b *bucket) wait(ctx context.Context, w *waiter) (time.Duration, error) {
	b.mu.Lock()
	began := b.now()
	b.count++
	turn, raised := turnNow(ctx)
	w.turn, w.order, w.ready = turn.since(began), b.count, make(chan struct{})
	heap.Push(&b.queue, w)
	b.serve()
	b.mu.Unlock()
	for {
		select {
		case <-w.ready:
			return b.now().Sub(began), nil
		case <-raised:
			turn, raised = turnNow(ctx)
			b.raise(w, turn.since(began))
		case <-ctx.Done():
			if b.forgo(w) {
				return 0, ctx.Err()
			}
			return b.now().Sub(began), nil // both at once: its token and its place are taken
		}
	}
}

// forgo removes a call from the queue; false if it has its token.
func (b *bucket) forgo(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.index < 0 {
		return false
	}
	heap.Remove(&b.queue, w.index)
	b.serve() // the next call may need no room
	return true
}

// raise moves a waiting call to the position of another turn.
func (b *bucket) raise(w *waiter, t Turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.index < 0 {
		return
	}
	w.turn = t
	heap.Fix(&b.queue, w.index)
	b.serve()
}

// serve distributes the available tokens, and schedules itself for the next ones. The
// lock is held.
func (b *bucket) serve() {
	for len(b.queue) > 0 {
		now := b.now()
		wait := b.closed.Sub(now)
		if wait <= 0 {
			wait = max(b.missing(now, b.queue[0].turn.Urgency), b.windowWait(now))
		}
		if wait > 0 {
			b.later(wait)
			return
		}
		if b.queue[0].room && !b.room.enter(b) {
			return // a call that leaves the room serves it again
		}
		w, _ := heap.Pop(&b.queue).(*waiter)
		if !w.last {
			b.unknown.send(b, now)
			b.tokens.AllowN(now, 1)
			b.record(now)
		}
		close(w.ready)
	}
}

// Reserved returns the number of calls of a burst that are reserved for users' changes.
func Reserved(burst int) int { return min(int(reserved*float64(burst)), mostReserved) }

// missing returns the time until there is a token for work of the urgency.
func (b *bucket) missing(now time.Time, u Urgency) time.Duration {
	limit := float64(b.tokens.Limit())
	if b.tokens.Limit() == rate.Inf {
		return 0
	}
	needed := 1.0
	if u < User {
		needed += float64(Reserved(b.tokens.Burst()))
	}
	lacking := needed - b.tokens.TokensAt(now)
	if lacking <= 0 {
		return 0
	}
	return max(time.Duration(lacking/limit*float64(time.Second)), time.Microsecond)
}

// windowWait returns the time until a window has room for a call.
func (b *bucket) windowWait(now time.Time) time.Duration {
	if b.Window == 0 || len(b.sent) < b.Burst {
		return 0
	}
	return b.sent[len(b.sent)-b.Burst].Add(b.Window).Sub(now)
}

// record notes a call for the window.
func (b *bucket) record(now time.Time) {
	if b.Window == 0 {
		return
	}
	b.sent = append(b.sent, now)
	b.sent = b.sent[max(0, len(b.sent)-b.Burst):]
}

func (b *bucket) later(wait time.Duration) {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(wait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.serve()
	})
}

// passed records a call that was not throttled.
func (b *bucket) passed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusal = 0
	b.unknown.accepted++
	if limit := float64(b.tokens.Limit()); limit < b.full {
		b.tokens.SetLimitAt(b.now(), rate.Limit(min(limit+b.growth(limit), b.full)))
	}
}

// growth returns how much faster, in calls a second, an accepted call makes the bucket.
func (b *bucket) growth(limit float64) float64 {
	switch {
	case b.Rate <= 0:
		return b.unknown.growth(b, limit)
	case limit >= b.ceiling*near:
		return b.unit() * probing
	}
	return b.unit() * recovery
}

// refused records a throttled call with its time: the bucket is empty, closed for a
// while and slower from then on. Calls that were pending when it was closed do not slow
// it down again.
func (b *bucket) refused(sent, now time.Time, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !sent.Before(b.closed)
	if first {
		b.tokens.SetLimitAt(now, rate.Limit(max(b.slower(now), b.least())))
		after = max(after, min(firstPause<<min(b.refusal, 10), longestPause))
		b.refusal++
	}
	b.drain(now, 0)
	if until := now.Add(after); until.After(b.closed) {
		b.closed = until
	}
	b.serve()
}

// slower returns the rate, in calls a second, after a refusal. The lock is held.
func (b *bucket) slower(now time.Time) float64 {
	limit := float64(b.tokens.Limit())
	if b.Rate <= 0 {
		return b.unknown.slower(b, limit, now)
	}
	b.ceiling = limit
	return limit * backoff
}

// unit returns the rate, in calls a second, that the bucket's changes are relative to.
func (b *bucket) unit() float64 {
	if b.Rate <= 0 {
		return max(guessed, b.ceiling)
	}
	return b.full
}

// least returns the rate, in calls a second, below which the bucket is not slowed down.
func (b *bucket) least() float64 {
	if b.Rate <= 0 {
		return guessed * slowest
	}
	return b.full * slowest
}

// atMost limits the tokens to the number that the cloud reports.
func (b *bucket) atMost(calls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drain(b.now(), calls)
}

// drain removes tokens down to a number. The lock is held.
func (b *bucket) drain(now time.Time, left int) {
	if b.tokens.Limit() == rate.Inf {
		return
	}
	if n := int(b.tokens.TokensAt(now)) - left; n > 0 {
		b.tokens.AllowN(now, n)
	}
}

// free reports whether no call waits and there is a token for the urgency.
func (b *bucket) free(u Urgency) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	return len(b.queue) == 0 && !now.Before(b.closed) && b.missing(now, u) == 0 && b.windowWait(now) <= 0
}

// queue is a heap of waiting calls: the next one first.
type queue []*waiter

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool {
	if q[i].last != q[j].last && q[i].turn.Urgency == q[j].turn.Urgency {
		return q[j].last
	}
	if q[i].turn == q[j].turn {
		return q[i].order < q[j].order
	}
	return q[i].turn.Before(q[j].turn)
}

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	w, _ := x.(*waiter)
	w.index = len(*q)
	*q = append(*q, w)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	w.index = -1
	return w
}
