package engine

import (
	"context"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Apply performs the steps of one batch in as few calls as it can and returns
// one outcome per step, in order.
type Apply func(ctx context.Context, b plan.Batch) []plan.Outcome

// Options bound the concurrency of the engine. Zero values mean the defaults. Calls of
// the process are not bounded here: a call that waits for its turn at the cloud, or for
// the end of an operation, blocks no other.
type Options struct {
	PerOwner int // calls in flight of one owner; default 4
	// CallTimeout ends a batch that hangs; default 30 minutes. The deadlines of single
	// calls are the provider's. It is independent of the caller's context, because a call
	// that has started should finish.
	CallTimeout time.Duration
	// Observe is called with every step that has ended, for logs and metrics.
	Observe func(Result)
	// Join returns the context of a batch from the contexts of the runs whose steps are in
	// it; default: Background. It must not end with any of them.
	Join func([]context.Context) context.Context
	// Yield returns when a batch should be sent, at the latest when ctx ends. Steps that
	// arrive in its queue meanwhile are included; default: at once.
	Yield func(ctx context.Context, b plan.Batch)
	// Before reports whether the calls of one run precede those of another that waits for
	// the same lock; default: in order of arrival.
	Before func(a, b context.Context) bool
	// Fence is checked before every batch; nil: the process may always write.
	Fence Fence
	// Spawn starts a call; default: a goroutine of its own. A test without concurrency makes
	// the call at once.
	Spawn func(call func())
}

// Fence reports whether the process may write, such as by the Lease that it holds.
type Fence interface {
	// Err returns why the process must not write now; nil: it may.
	Err() error
	// Term is canceled when the process will never write again. Running batches
	// end with it, and their outcome is unknown.
	Term() context.Context
}

// Background is a Join that is independent of all runs.
func Background([]context.Context) context.Context { return context.Background() }

// Engine runs plans of many owners. It is safe for concurrent use.
type Engine struct {
	apply   Apply
	claims  plan.Claims
	options Options
	batcher *batcher
	losses  losses
	// refused are the steps that were refused before, by batch.
	refused fault.Suspects
}

// New returns an engine. Claims returns, at the moment of a write, the other users of a
// shared entry.
func New(apply Apply, claims plan.Claims, o Options) *Engine {
	if o.PerOwner <= 0 {
		o.PerOwner = 4
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Minute
	}
	if o.Observe == nil {
		o.Observe = func(Result) {}
	}
	if o.Join == nil {
		o.Join = Background
	}
	if o.Before == nil {
		o.Before = func(context.Context, context.Context) bool { return false }
	}
	if o.Spawn == nil {
		o.Spawn = func(call func()) { go call() }
	}
	e := &Engine{apply: apply, claims: claims, options: o}
	e.batcher = newBatcher(newLocks(o.Before), o.Spawn, e.yield, e.call)
	return e
}

// Gates returns how long a gate stays closed; zero or less: it is open.
type Gates func(plan.Gate) time.Duration

// Run performs the steps of the plan that can be performed now and returns the result of
// every step. It ends when no more can start: waiting is up to the caller. When ctx ends,
// steps in flight finish, and no further step starts unless a replacement needs it whose old
// resource is deleted: nothing serves meanwhile, and the next process has no record of what
// to restore.
func (e *Engine) Run(ctx context.Context, p plan.Plan, have *stack.Stack, gates Gates) Report {
	r := newRun(ctx, e, p, have)
	r.closeGates(gates)
	for {
		r.startAgain()
		r.start(ctx.Err() != nil)
		r.startUndoing()
		r.startAgain()
		if len(r.calls) == 0 {
			break
		}
		r.finish(<-r.completed)
	}
	r.leaveRest(ctx.Err() != nil)
	return r.report()
}
