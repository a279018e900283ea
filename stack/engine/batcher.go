package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// item is one submitted step, with the channel for its outcome.
type item struct {
	ctx       context.Context //nolint:containedctx // of the run
	step      plan.Step
	place     int // in its plan
	ids       func(stack.Ref) (string, bool)
	completed chan<- completion
}

// batcher is group commit: each batch key has one call in flight at a time. Steps
// that arrive meanwhile are sent together in the next call; without a call in flight
// they are sent at once. There are no timers.
type batcher struct {
	mu     sync.Mutex
	queues map[string]*queue
	locks  *locks
	spawn  func(func())
	yield  func(key string, items []item)
	call   func(key string, items []item)
}

type queue struct {
	items []item
}

func newBatcher(l *locks, spawn func(func()), yield, call func(string, []item)) *batcher {
	return &batcher{queues: map[string]*queue{}, locks: l, spawn: spawn, yield: yield, call: call}
}

// submit accepts steps of one batch key; an empty key means that they share no call
// with others.
func (b *batcher) submit(key string, items []item) {
	if key == "" {
		b.spawn(func() { b.run(key, items) })
		return
	}
	if b.joins(key, items) {
		return
	}
	b.spawn(func() { b.drain(key, items) })
}

// joins reports whether a call of the key is in flight, and has the steps wait for the next one
// then.
func (b *batcher) joins(key string, items []item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	busy, ok := b.queues[key]
	if !ok {
		b.queues[key] = &queue{}
		return false
	}
	busy.items = append(busy.items, items...)
	return true
}

func (b *batcher) drain(key string, items []item) {
	for len(items) > 0 {
		b.run(key, items)
		b.mu.Lock()
		items = b.queues[key].items
		b.queues[key].items = nil
		if len(items) == 0 {
			delete(b.queues, key)
		}
		b.mu.Unlock()
	}
}

// run makes a call when it is due and has the locks of all its steps. Steps that have
// arrived meanwhile and need no other lock are included; steps of a run that has ended
// are not sent.
func (b *batcher) run(key string, items []item) {
	names, foremost := b.locks.namesOf(items)
	b.yield(key, items)
	release := b.locks.acquire(foremost, names)
	defer release()
	items = append(items, b.joining(key, names)...)
	items = slices.DeleteFunc(items, func(it item) bool {
		ended := it.ctx.Err() != nil
		if ended {
			it.completed <- completion{place: it.place, outcome: plan.Outcome{Wait: time.Second}}
		}
		return ended
	})
	if len(items) > 0 {
		b.call(key, items)
	}
}

// joining takes the steps of a queue that need no other locks than these.
func (b *batcher) joining(key string, names []string) []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []item
	if busy, ok := b.queues[key]; ok {
		busy.items = slices.DeleteFunc(busy.items, func(it item) bool {
			for _, name := range it.step.Locks {
				if !slices.Contains(names, name) {
					return false
				}
			}
			out = append(out, it)
			return true
		})
	}
	return out
}

// call performs one batch and sends every step its outcome.
func (e *Engine) call(key string, items []item) {
	outcomes := e.attempt(key, items)
	for i, it := range items {
		it.completed <- completion{place: it.place, outcome: outcomes[i]}
	}
}

// yield waits until a batch of several owners can be sent.
func (e *Engine) yield(key string, items []item) {
	if e.options.Yield == nil || key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(e.joint(items), e.options.CallTimeout)
	defer cancel()
	e.options.Yield(ctx, e.batch(key, items))
}

// joint returns the context of a batch.
func (e *Engine) joint(items []item) context.Context {
	runs := make([]context.Context, 0, len(items))
	for _, it := range items {
		runs = append(runs, it.ctx)
	}
	return e.options.Join(runs)
}

func (e *Engine) batch(key string, items []item) plan.Batch {
	b := plan.Batch{Key: key, Claims: e.claims, IDs: newResolver(items)}
	for _, it := range items {
		b.Steps = append(b.Steps, it.step)
	}
	return b
}

func (e *Engine) applyOnce(key string, items []item) (outcomes []plan.Outcome) {
	ctx, cancel := context.WithTimeout(e.joint(items), e.options.CallTimeout)
	defer cancel()
	if fence := e.options.Fence; fence != nil {
		if err := fence.Err(); err != nil {
			return refusedAll(items, err)
		}
		defer context.AfterFunc(fence.Term(), cancel)()
	}
	outcomes = e.apply(ctx, e.batch(key, items))
	for len(outcomes) < len(items) {
		err := fault.New(fault.Internal, "the provider returned %d outcomes for %d steps", len(outcomes), len(items))
		outcomes = append(outcomes, plan.Outcome{Err: err, Sent: plan.MaybeSent})
	}
	for i := range outcomes[:len(items)] {
		if err := outcomes[i].Err; err != nil {
			outcomes[i].Err = fmt.Errorf("%s: %w", items[i].step.ID, err)
		}
	}
	return outcomes[:len(items)]
}

// refusedAll returns the outcomes of a batch that was not sent.
func refusedAll(items []item, why error) []plan.Outcome {
	out := make([]plan.Outcome, len(items))
	for i, it := range items {
		out[i] = plan.Outcome{Err: fmt.Errorf("%s: %w", it.step.ID, &fault.Fault{Meaning: fault.Unavailable, Text: "not sent: " + why.Error(), Err: why}), Sent: plan.NotSent}
	}
	return out
}

// newResolver resolves references of all owners of the batch.
func newResolver(items []item) plan.Resolver {
	byOwner := map[stack.Owner]func(stack.Ref) (string, bool){}
	for _, it := range items {
		byOwner[it.step.ID.Owner] = it.ids
	}
	return func(o stack.Owner, ref stack.Ref) (string, bool) {
		if ids := byOwner[o]; ids != nil {
			return ids(ref)
		}
		return ref.ID, ref.ID != ""
	}
}
