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
	// gather is how long the first read of a batch waits for company: as long
	// as a handful of writes to the API server takes, so that Services which are
	// created together are read together.
	gather = 25 * time.Millisecond
	// rounds is how many times in a row the batch waits so if more reads have come:
	// hundreds of Services that are looked at together, such as when the process
	// starts, share one read where the cloud lists all that it has for any of them.
	rounds = 20
	// deepest is how many Services are read with all their parts at a time: each
	// costs calls of its own, and all of a batch wait for the last one.
	deepest = 32
	// wholeCost is what a read of all that a Service has costs of those that only look
	// for some kinds, where lists serve them.
	wholeCost = 4
	// eachCost is what it costs where each takes calls: what nodes have left is waiting.
	eachCost = 8
	// abreast is how many batches of one lane are under way before the next reads
	// gather: a cloud that lists all that it has answers those in one batch.
	abreast = 4
	// slow is how long a batch may take before it no longer keeps others waiting.
	slow = 2 * time.Second
)

// depth sorts reads by what they cost, and so by whom they keep waiting.
type depth int

const (
	factsOnly depth = iota // mostly from the session's memory; never waits for other reads
	glance                 // the lists that serve all Services
	thorough               // lists, and calls for each Service
)

func depthOf(s providers.Scope) depth {
	switch {
	case len(s.Own) == 0:
		return factsOnly
	case s.Depth == providers.Shallow:
		return glance
	}
	return thorough
}

// reader batches the reads of many Services. Reads of equal urgency and depth share
// a lane: those that arrive within a few milliseconds, or while the lane is full,
// go out together. Lanes do not wait for each other.
type reader struct {
	read  func(context.Context, []providers.Scope) []providers.Read
	late  time.Duration                           // how long the reads of ReadLate gather
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
	gathers bool          // a goroutine is at work on the lane
	hurry   chan struct{} // ends the patience of ReadLate; nil: it is over
}

type pendingRead struct {
	ctx   context.Context //nolint:containedctx // of the Service's work; a batch ends when all of its reads' have
	scope providers.Scope
	late  bool
	empty bool // nothing is asked for
	done  chan providers.Read
}

// cost says what a read adds to a batch.
func (r *reader) cost(p pendingRead) int {
	switch {
	case depthOf(p.scope) != thorough, p.late: // those of ReadLate are to find nothing, which takes no calls
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

// Read returns what was found for the scope, or the context's error.
func (r *reader) Read(ctx context.Context, s providers.Scope) providers.Read {
	return r.join(pendingRead{ctx: ctx, scope: s})
}

// ReadLate is Read for what is not urgent: it waits longer for company, and goes
// along with any other read of its lane.
func (r *reader) ReadLate(ctx context.Context, s providers.Scope) providers.Read {
	return r.join(pendingRead{ctx: ctx, scope: s, late: true})
}

// Gather waits for company as a read does, and asks for nothing.
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

// drain sends off the reads of a lane until none is left.
func (r *reader) drain(id laneID, l *lane, late bool, hurry <-chan struct{}) {
	if late {
		waitUnless(hurry, r.late-gather)
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

// enter waits until there is room for a batch, and returns what makes room again.
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

// take returns the next batch, the oldest work first; nil: the lane is empty, and
// nobody is at work on it any more.
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

// waitUnless waits for the duration, or until it is told that there is no need to.
func waitUnless(hurry <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
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

// one reads for a batch. It has no deadline of its own, but ends when nobody waits
// for it any more.
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
