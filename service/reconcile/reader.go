package reconcile

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// gather is how long the first read of a batch waits for others: as long
	// as a handful of writes to the API server takes, so that Services which are
	// created together are read together.
	gather = 25 * time.Millisecond
	// rounds bounds how many times the batch waits so if more reads have arrived: hundreds of
	// Services that are read together, such as at the start of the process, share one read where
	// the cloud lists all resources for any of them.
	rounds = 20
	// lateRounds is rounds for the reads of ReadLate, which gather far longer: releases that end one
	// after the other, as a rate limit lets them, share a read every few seconds.
	lateRounds = 5
	// deepest is the number of Services that are read with all their parts at a time: each
	// costs calls of its own, and all reads of a batch wait for the last one.
	deepest = 32
	// wholeCost is the cost of a full read of a Service, relative to a read of some kinds from
	// lists.
	wholeCost = 4
	// eachCost is the cost of a read of some kinds where each takes calls: updates for deleted
	// nodes wait for it.
	eachCost = 8
	// abreast is the number of batches of one lane in flight before the next reads gather: a
	// cloud that lists all resources answers these in one batch.
	abreast = 4
	// slow is how long a batch may take before others no longer wait for it.
	slow = 2 * time.Second
)

// depth sorts reads by their cost, and so by the reads that may wait for them.
type depth int

const (
	factsOnly depth = iota // mostly from the session's cache; never waits for other reads
	presence               // the lists that serve all Services
	thorough               // lists, and calls for each Service
)

func depthOf(s providers.Scope) depth {
	switch {
	case len(s.Own) == 0:
		return factsOnly
	case s.Depth == providers.Shallow:
		return presence
	}
	return thorough
}

// reader batches the reads of many Services. Reads of equal urgency and depth share
// a lane: reads that arrive within a few milliseconds, or while the lane is full,
// are sent together. Lanes do not wait for each other.
type reader struct {
	read  func(context.Context, []providers.Scope) []providers.Read
	late  time.Duration                           // how long the reads of ReadLate gather, and again while others arrive
	each  bool                                    // a read of some kinds costs calls for each Service as well
	joint func([]context.Context) context.Context // the context of a batch

	mu    sync.Mutex
	lanes map[laneID]*lane
}

type laneID struct {
	depth   depth
	urgency kit.Urgency
}

// lane holds the reads that gather for its next batch.
type lane struct {
	room chan struct{} // holds one token for each batch that keeps others waiting

	waiting []pendingRead
	gathers bool          // a goroutine sends the reads of the lane
	hurry   chan struct{} // ends the delay of ReadLate; nil: it is over
}

type pendingRead struct {
	ctx   context.Context //nolint:containedctx // of the Service's work; a batch ends when all of its reads' have
	scope providers.Scope
	late  bool
	empty bool // it only waits
	done  chan providers.Read
}

// cost returns the cost of a read in a batch.
func (r *reader) cost(p pendingRead) int {
	switch {
	case depthOf(p.scope) != thorough, p.late: // reads of ReadLate are expected to find nothing, which takes no calls
		return 0
	case len(p.scope.Only) > 0 && r.each:
		return eachCost
	case len(p.scope.Only) > 0:
		return 1
	}
	return wholeCost
}

func newReader(read func(context.Context, []providers.Scope) []providers.Read, late time.Duration, join func([]context.Context) context.Context) *reader {
	return &reader{read: read, late: max(late, gather), joint: join, lanes: map[laneID]*lane{}}
}

// Read returns the result for the scope, or the context's error.
func (r *reader) Read(ctx context.Context, s providers.Scope) providers.Read {
	return r.join(pendingRead{ctx: ctx, scope: s})
}

// ReadLate is Read without urgency: it waits longer for others, and is sent with any other read
// of its lane.
func (r *reader) ReadLate(ctx context.Context, s providers.Scope) providers.Read {
	return r.join(pendingRead{ctx: ctx, scope: s, late: true})
}

// Gather waits for others as a read does, and reads nothing.
func (r *reader) Gather(ctx context.Context) {
	r.join(pendingRead{ctx: ctx, empty: true})
}

func (r *reader) join(p pendingRead) providers.Read {
	p.done = make(chan providers.Read, 1)
	id := laneID{depthOf(p.scope), kit.TurnOf(p.ctx).Urgency}
	r.mu.Lock()
	l := r.lanes[id]
	if l == nil {
		l = &lane{room: make(chan struct{}, abreast)}
		r.lanes[id] = l
	}
	l.waiting = append(l.waiting, p)
	switch {
	case !l.gathers:
		l.gathers, l.hurry = true, make(chan struct{}, 1)
		go r.drain(id, l, p.late, l.hurry)
	case !p.late && l.hurry != nil:
		select {
		case l.hurry <- struct{}{}:
		default: // it is over already
		}
	}
	r.mu.Unlock()
	select {
	case found := <-p.done:
		return found
	case <-p.ctx.Done():
		return providers.Read{Err: p.ctx.Err()}
	}
}

// drain sends the reads of a lane until none is left.
func (r *reader) drain(id laneID, l *lane, late bool, hurry <-chan struct{}) {
	for round, before := 0, 0; late && round < lateRounds && before < r.count(l); round++ {
		before = r.count(l)
		if waitUnless(hurry, r.late-gather) {
			break
		}
	}
	for range rounds {
		before := r.count(l)
		time.Sleep(gather)
		if r.count(l) == before {
			break
		}
	}
	for {
		leave := l.enter(id)
		batch := r.take(l)
		if len(batch) == 0 {
			leave()
			return
		}
		go func() {
			defer leave()
			r.one(batch)
		}()
	}
}

// enter waits until there is room for a batch, and returns the function that frees it.
func (l *lane) enter(id laneID) (leave func()) {
	if id.depth == factsOnly {
		return func() {}
	}
	l.room <- struct{}{}
	done := make(chan struct{})
	go func() {
		waitUnless(done, slow)
		<-l.room
	}()
	return func() { close(done) }
}

func (r *reader) count(l *lane) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(l.waiting)
}

// take returns the next batch, the oldest work first; nil: the lane is empty, and has no goroutine
// any more.
func (r *reader) take(l *lane) []pendingRead {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.hurry = nil
	waiting := slices.DeleteFunc(l.waiting, func(p pendingRead) bool { return p.ctx.Err() != nil })
	slices.SortStableFunc(waiting, func(a, b pendingRead) int {
		return kit.TurnOf(a.ctx).Since.Compare(kit.TurnOf(b.ctx).Since)
	})
	var batch, rest []pendingRead
	cost := 0
	for _, p := range waiting {
		if cost += r.cost(p); cost > deepest*wholeCost {
			rest = append(rest, p)
			continue
		}
		batch = append(batch, p)
	}
	l.waiting, l.gathers = rest, len(batch) > 0
	return batch
}

// waitUnless waits for the duration, or until the channel has a value or is closed. It reports whether the
// channel ended the wait.
func waitUnless(hurry <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-hurry:
		return true
	}
}

// onceAllLeft calls cancel when the last of the contexts has ended, unless the function
// that it returns was called before.
func onceAllLeft(askers []context.Context, cancel func()) (forget func()) {
	var left atomic.Int64
	left.Store(int64(len(askers)))
	var forgets []func() bool
	for _, asker := range askers {
		forgets = append(forgets, context.AfterFunc(asker, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return func() {
		for _, forget := range forgets {
			forget()
		}
	}
}

// one reads for a batch. It has no deadline of its own, but ends when all of its reads have
// ended.
func (r *reader) one(batch []pendingRead) {
	batch = slices.DeleteFunc(batch, func(p pendingRead) bool {
		if p.empty {
			p.done <- providers.Read{}
		}
		return p.empty
	})
	if len(batch) == 0 {
		return
	}
	scopes, askers := make([]providers.Scope, len(batch)), make([]context.Context, len(batch))
	for i, p := range batch {
		scopes[i], askers[i] = p.scope, p.ctx
	}
	ctx, cancel := context.WithCancel(kit.WithJoint(r.joint(askers), askers))
	defer cancel()
	defer onceAllLeft(askers, cancel)()
	found := r.read(ctx, scopes)
	for i, p := range batch {
		if i < len(found) {
			p.done <- found[i]
			continue
		}
		p.done <- providers.Read{Err: fault.New(fault.Internal, "the provider returned %d results for %d reads", len(found), len(batch))}
	}
}
