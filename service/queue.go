package service

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service/metrics"
)

// urgency orders the causes of work: what a user is waiting for comes first.
type urgency int

const (
	byDrift     urgency = iota // drift check, start-up
	byNodes                    // nodes came or went
	byEndpoints                // pods came or went
	byRetry                    // something is being waited for
	byUser                     // the Service was created, changed or deleted, or its namespace labelled
	urgencies                  // how many there are
)

// queue is a work queue of Service keys in which the most urgent is next and
// equals keep their order. A key's urgency is the highest of its causes since
// it was last taken.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]
	order *order
}

// Failures back off from 5 s, doubling up to 5 min, as the stock controller's do.
const (
	minBackoff = 5 * time.Second
	maxBackoff = 300 * time.Second
)

func newQueue(c clock.PassiveClock, waited func(cause string, d time.Duration)) *queue {
	o := &order{clock: c, waited: waited, cause: map[string]urgency{}, since: map[string]time.Time{}}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](minBackoff, maxBackoff)
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
		Name:  "berth-service",
		Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "berth-service", Queue: o}),
	})
	limiting := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{DelayingQueue: delaying})
	return &queue{TypedRateLimitingInterface: limiting, order: o}
}

// AddBy queues a key for a cause.
func (q *queue) AddBy(key string, u urgency) {
	q.order.note(key, u)
	q.Add(key)
}

// order is the storage behind the queue: one list per urgency.
type order struct {
	clock  clock.PassiveClock
	waited func(cause string, d time.Duration) // is told of every key that is taken

	mu    sync.Mutex
	cause map[string]urgency
	since map[string]time.Time // of the keys in lists
	lists [urgencies][]string
}

// word is what the metrics call a cause.
func (u urgency) word() string { return metrics.Causes()[u] }

// depth is how many keys wait by cause, and for how long the first one has.
func (o *order) depth() ([]int, time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]int, len(o.lists))
	for u, l := range o.lists {
		out[u] = len(l)
	}
	return out, o.longest()
}

// oldest is for how long the first key has waited; zero if none waits.
func (o *order) oldest() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.longest()
}

// longest is oldest with the lock held. A key moves between the lists when its
// cause changes, so their order does not tell.
func (o *order) longest() time.Duration {
	now, longest := o.clock.Now(), time.Duration(0)
	for _, since := range o.since {
		longest = max(longest, now.Sub(since))
	}
	return longest
}

func (o *order) note(key string, u urgency) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cause[key] = max(o.cause[key], u)
}

// Touch implements workqueue.Queue: a waiting key was added again, perhaps for
// a more urgent cause.
func (o *order) Touch(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for u := range o.lists {
		for i, k := range o.lists[u] {
			if k == key && urgency(u) < o.cause[key] {
				o.lists[u] = append(o.lists[u][:i:i], o.lists[u][i+1:]...)
				o.lists[o.cause[key]] = append(o.lists[o.cause[key]], key)
				return
			}
		}
	}
}

// Push implements workqueue.Queue.
func (o *order) Push(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	u := o.cause[key]
	o.lists[u] = append(o.lists[u], key)
	o.since[key] = o.clock.Now()
}

// Len implements workqueue.Queue.
func (o *order) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, l := range o.lists {
		n += len(l)
	}
	return n
}

// Pop implements workqueue.Queue.
func (o *order) Pop() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for u := len(o.lists) - 1; u >= 0; u-- {
		if l := o.lists[u]; len(l) > 0 {
			o.lists[u] = l[1:]
			o.waited(urgency(u).word(), o.clock.Since(o.since[l[0]]))
			delete(o.cause, l[0])
			delete(o.since, l[0])
			return l[0]
		}
	}
	return ""
}
