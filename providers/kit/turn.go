package kit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Urgency orders calls by their cause.
type Urgency int

const (
	// Background is drift checks, the start of the program, and calls without a turn.
	Background Urgency = iota
	// Nodes is members that follow nodes.
	Nodes
	// Endpoints is members that follow pods.
	Endpoints
	// Retry is work that was started and has waited.
	Retry
	// User is a change that a user is waiting for.
	User
)

// Turn is the position of a piece of work among all waiting calls: the more urgent
// first, among equals the older. So a few Services are completed before many are
// started.
type Turn struct {
	Urgency Urgency
	Since   time.Time // time of the request; zero counts as now
}

// turnKey is the key of a standing in a context.
type turnKey struct{}

// standing is the turn of running work. It can become more urgent, never less.
type standing struct {
	mu     sync.Mutex
	turn   Turn
	raised chan struct{} // closed when it becomes more urgent
	joint  []*standing   // of work for this one and others together
}

// WithTurn returns a context whose calls have the turn, until Raise.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, &standing{turn: t, raised: make(chan struct{})})
}

// WithJoint returns a context for work that is done for several at once: as urgent as the
// most urgent of them, also when that one is raised later, and as old as the oldest of those.
func WithJoint(ctx context.Context, of []context.Context) context.Context {
	s := &standing{raised: make(chan struct{})}
	for _, c := range of {
		if one, ok := c.Value(turnKey{}).(*standing); ok {
			one.mu.Lock()
			one.joint = append(one.joint, s)
			t := one.turn
			one.mu.Unlock()
			s.raise(t)
		}
	}
	return context.WithValue(ctx, turnKey{}, s)
}

// TurnOf returns the turn of a context; without one it is of the Background.
func TurnOf(ctx context.Context) Turn {
	t, _ := turnNow(ctx)
	return t
}

// turnNow returns the turn of a context, and a channel that is closed when it becomes more
// urgent; nil if it never does.
func turnNow(ctx context.Context) (Turn, <-chan struct{}) {
	s, ok := ctx.Value(turnKey{}).(*standing)
	if !ok {
		return Turn{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn, s.raised
}

// Raise gives all calls of a context another turn, waiting ones included, if it precedes
// their current one.
func Raise(ctx context.Context, t Turn) {
	if s, ok := ctx.Value(turnKey{}).(*standing); ok {
		s.raise(t)
	}
}

func (s *standing) raise(t Turn) {
	s.mu.Lock()
	if !t.Before(s.turn) {
		s.mu.Unlock()
		return
	}
	s.turn = t
	close(s.raised)
	s.raised = make(chan struct{})
	joint := slices.Clone(s.joint)
	s.mu.Unlock()
	for _, j := range joint {
		j.raise(t)
	}
}

// Before reports whether t precedes o.
func (t Turn) Before(o Turn) bool {
	if t.Urgency != o.Urgency {
		return t.Urgency > o.Urgency
	}
	if t.Since.IsZero() || o.Since.IsZero() {
		return !t.Since.IsZero()
	}
	return t.Since.Before(o.Since)
}

// since returns t with a time of the request, if t has none.
func (t Turn) since(at time.Time) Turn {
	if t.Since.IsZero() {
		t.Since = at
	}
	return t
}
