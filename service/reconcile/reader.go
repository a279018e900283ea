package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

const (
	// gather is how long the first reader of a batch waits for company: as long
	// as a handful of writes to the API server takes, so that Services which are
	// created together are read together.
	gather = 25 * time.Millisecond
	// readTimeout bounds one batch of reads.
	readTimeout = 2 * time.Minute
)

// reader batches the reads of many Services: those that arrive within a few
// milliseconds, or while a read is under way, go out together.
type reader struct {
	read  func(context.Context, []providers.Scope) []providers.Read
	late  time.Duration                           // how long reads that nobody waits for gather
	joint func([]context.Context) context.Context // the context of a batch

	mu      sync.Mutex
	waiting []pendingRead
	busy    bool          // somebody gathers or reads
	hurry   chan struct{} // tells who gathers that somebody does wait; nil: nobody gathers
}

type pendingRead struct {
	ctx   context.Context //nolint:containedctx // says for whom the read is made, and does not end it
	scope providers.Scope
	done  chan providers.Read
}

func newReader(read func(context.Context, []providers.Scope) []providers.Read, late time.Duration, join func([]context.Context) context.Context) *reader {
	return &reader{read: read, late: max(late, gather), joint: join}
}

// Read returns what was found for the scope, or the context's error.
func (r *reader) Read(ctx context.Context, s providers.Scope) providers.Read {
	return r.join(ctx, s, gather)
}

// ReadLate is for reads that nobody waits for: it waits longer for company, and
// goes along with any other read.
func (r *reader) ReadLate(ctx context.Context, s providers.Scope) providers.Read {
	return r.join(ctx, s, r.late)
}

func (r *reader) join(ctx context.Context, s providers.Scope, patience time.Duration) providers.Read {
	p := pendingRead{ctx: ctx, scope: s, done: make(chan providers.Read, 1)}
	r.mu.Lock()
	r.waiting = append(r.waiting, p)
	switch {
	case !r.busy:
		r.busy, r.hurry = true, make(chan struct{}, 1)
		go r.drain(patience, r.hurry)
	case patience == gather && r.hurry != nil:
		select {
		case r.hurry <- struct{}{}:
		default: // it has been told
		}
	}
	r.mu.Unlock()
	select {
	case found := <-p.done:
		return found
	case <-ctx.Done():
		return providers.Read{Err: ctx.Err()}
	}
}

func (r *reader) drain(patience time.Duration, hurry <-chan struct{}) {
	wait(patience, hurry)
	for {
		r.mu.Lock()
		batch := r.waiting
		r.waiting, r.hurry = nil, nil
		if len(batch) == 0 {
			r.busy = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		r.one(batch)
	}
}

// wait is the one place where doing nothing saves calls.
func wait(patience time.Duration, hurry <-chan struct{}) {
	if patience > gather {
		timer := time.NewTimer(patience - gather)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-hurry:
		}
	}
	time.Sleep(gather)
}

func (r *reader) one(batch []pendingRead) {
	scopes, askers := make([]providers.Scope, len(batch)), make([]context.Context, len(batch))
	for i, p := range batch {
		scopes[i], askers[i] = p.scope, p.ctx
	}
	ctx, cancel := context.WithTimeout(r.joint(askers), readTimeout)
	defer cancel()
	found := r.read(ctx, scopes)
	for i, p := range batch {
		if i < len(found) {
			p.done <- found[i]
			continue
		}
		p.done <- providers.Read{Err: fault.New(fault.Internal, "the provider returned %d results for %d reads", len(found), len(batch))}
	}
}
