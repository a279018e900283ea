package engine

import (
	"context"
	"slices"
	"sync"
)

// locks are names that one call at a time can hold, such as the identifier of a load
// balancer that accepts one change at a time. A waiter is a goroutine and blocks no
// other.
type locks struct {
	mu      sync.Mutex
	waiting map[string][]*waiter // by the name of a lock that is held
	before  func(a, b context.Context) bool
}

type waiter struct {
	ctx  context.Context //nolint:containedctx // of the run, to order by
	turn chan struct{}
}

func newLocks(before func(a, b context.Context) bool) *locks {
	return &locks{waiting: map[string][]*waiter{}, before: before}
}

// namesOf returns the locks of all steps, in order, and the run with the highest
// priority.
func (l *locks) namesOf(items []item) (names []string, foremost context.Context) {
	for _, it := range items {
		names = append(names, it.step.Locks...)
		if foremost == nil || l.before(it.ctx, foremost) {
			foremost = it.ctx
		}
	}
	slices.Sort(names)
	return slices.Compact(names), foremost
}

// acquire waits for all locks and returns the function that releases them. All callers
// take them in the same order, so that there is no deadlock.
func (l *locks) acquire(ctx context.Context, names []string) (release func()) {
	for _, name := range names {
		l.lock(ctx, name)
	}
	return func() {
		for _, name := range names {
			l.unlock(name)
		}
	}
}

func (l *locks) lock(ctx context.Context, name string) {
	l.mu.Lock()
	queue, held := l.waiting[name]
	if !held {
		l.waiting[name] = nil
		l.mu.Unlock()
		return
	}
	w := &waiter{ctx: ctx, turn: make(chan struct{})}
	l.waiting[name] = append(queue, w)
	l.mu.Unlock()
	<-w.turn
}

// unlock passes the lock to the waiter with the highest priority, among equals to the
// first one.
func (l *locks) unlock(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.waiting[name]
	if len(queue) == 0 {
		delete(l.waiting, name)
		return
	}
	next := 0
	for i, w := range queue {
		if l.before(w.ctx, queue[next].ctx) {
			next = i
		}
	}
	w := queue[next]
	l.waiting[name] = slices.Delete(queue, next, next+1)
	close(w.turn)
}
