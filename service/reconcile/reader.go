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
	// rounds is how many times in a row the batch waits so if somebody has come:
	// hundreds of Services that are looked at together, such as when the process
	// starts, share one read where the cloud lists all that it has for any of them.
	rounds = 20
	// deepest is how many Services are read with all their parts at a time: each
	// costs calls of its own, and all of a batch wait for the last one.
	deepest = 512
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
	for range rounds {
		before := r.count()
		time.Sleep(gather)
		if r.count() == before {
			break
		}
	}
	for batch := r.take(); len(batch) > 0; batch = r.take() {
		r.one(batch)
	}
}

func (r *reader) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// take is the next batch. If there is none, nobody reads any more.
func (r *reader) take() []pendingRead {
	r.mu.Lock()
	defer r.mu.Unlock()
	var batch, rest []pendingRead
	deep := 0
	for _, p := range r.waiting {
		if p.scope.Depth == providers.Deep && len(p.scope.Own) > 0 {
			if deep++; deep > deepest {
				rest = append(rest, p)
				continue
			}
		}
		batch = append(batch, p)
	}
	r.waiting, r.hurry = rest, nil
	r.busy = len(batch) > 0
	return batch
}

// wait gives reads that nobody waits for the time to find company, until somebody
// does wait.
func wait(patience time.Duration, hurry <-chan struct{}) {
	if patience > gather {
		timer := time.NewTimer(patience - gather)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-hurry:
		}
	}
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
