package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// item is one step on its way, with the way back.
type item struct {
	ctx    context.Context //nolint:containedctx // of the run
	step   plan.Step
	ids    func(stack.Ref) (string, bool)
	landed chan<- landing
}

// lanes is group commit: of each batch key one call is in flight at a time.
// What arrives meanwhile gathers and goes out together in the next call; what
// arrives when nothing is in flight goes at once. There are no timers.
type lanes struct {
	mu    sync.Mutex
	lanes map[string]*lane
	slots chan struct{}
	call  func(key string, items []item)
}

type lane struct {
	queue []item
}

func newLanes(parallel int, call func(string, []item)) *lanes {
	return &lanes{lanes: map[string]*lane{}, slots: make(chan struct{}, parallel), call: call}
}

// submit hands over steps of one batch key; an empty key means that they share
// no call with anybody.
func (l *lanes) submit(key string, items []item) {
	if key == "" {
		go l.run(key, items)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if busy, ok := l.lanes[key]; ok {
		busy.queue = append(busy.queue, items...)
		return
	}
	l.lanes[key] = &lane{}
	go l.drain(key, items)
}

func (l *lanes) drain(key string, items []item) {
	for len(items) > 0 {
		l.run(key, items)
		l.mu.Lock()
		items = l.lanes[key].queue
		l.lanes[key].queue = nil
		if len(items) == 0 {
			delete(l.lanes, key)
		}
		l.mu.Unlock()
	}
}

func (l *lanes) run(key string, items []item) {
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	l.call(key, items)
}

// maxSplits bounds the extra calls that looking for a guilty step may cost.
const maxSplits = 16

// call performs one batch and sends every step its outcome.
func (e *Engine) call(key string, items []item) {
	budget := maxSplits
	outcomes := e.attempt(key, items, &budget)
	for i, it := range items {
		it.landed <- landing{step: it.step, outcome: outcomes[i]}
	}
}

// attempt calls Apply once and, if the cloud refused the batch as a whole for
// something that one of its steps is guilty of, again with its halves.
func (e *Engine) attempt(key string, items []item, budget *int) []plan.Outcome {
	outcomes := e.applyOnce(key, items)
	if len(items) < 2 || *budget < 2 || !refusedAsOne(outcomes) {
		return outcomes
	}
	*budget -= 2
	half := len(items) / 2
	first := e.attempt(key, items[:half], budget)
	return append(first, e.attempt(key, items[half:], budget)...)
}

func (e *Engine) applyOnce(key string, items []item) (outcomes []plan.Outcome) {
	runs := make([]context.Context, 0, len(items))
	for _, it := range items {
		runs = append(runs, it.ctx)
	}
	ctx, cancel := context.WithTimeout(e.options.Join(runs), e.options.CallTimeout)
	defer cancel()
	b := plan.Batch{Key: key, Claims: e.claims, IDs: resolver(items)}
	for _, it := range items {
		b.Steps = append(b.Steps, it.step)
	}
	outcomes = e.apply(ctx, b)
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

// refusedAsOne tells whether every step of a batch got the same refusal, of a
// sort that looking closer can help with. A timeout is none: asking again would
// double the load exactly when the cloud is down.
func refusedAsOne(outcomes []plan.Outcome) bool {
	for _, o := range outcomes {
		if o.Err == nil || o.Sent != plan.NotSent {
			return false
		}
		switch fault.Of(o.Err) {
		case fault.Invalid, fault.Exists, fault.Quota, fault.NotFound:
		default:
			return false
		}
	}
	return true
}

// resolver finds references of any of the batch's owners.
func resolver(items []item) plan.Resolver {
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
