package kit

import (
	"context"
	"time"
)

// Urgency orders calls by what they are made for.
type Urgency int

const (
	// Background is drift checks, the start of the program, and whatever has no turn.
	Background Urgency = iota
	// Nodes is members that follow nodes.
	Nodes
	// Endpoints is members that follow pods.
	Endpoints
	// Retry is work that was begun and waited for something.
	Retry
	// User is a change that a user is waiting for.
	User
)

// Turn is the place of a piece of work among all that want calls: the more urgent
// goes first, among equals the older. So a few Services are finished before many
// are begun.
type Turn struct {
	Urgency Urgency
	Since   time.Time // when the work was asked for; zero counts as now
}

// turnKey is the key of a Turn in a context.
type turnKey struct{}

// WithTurn returns a context whose calls have the turn.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf returns the turn of a context; without one it is of the Background.
func TurnOf(ctx context.Context) Turn {
	t, _ := ctx.Value(turnKey{}).(Turn)
	return t
}

// JoinTurns returns the turn of work that is done for several at once: as urgent as
// the most urgent of them, and as old as the oldest of those.
func JoinTurns(of []context.Context) Turn {
	var joined Turn
	for i, ctx := range of {
		if t := TurnOf(ctx); i == 0 || t.Before(joined) {
			joined = t
		}
	}
	return joined
}

// Before tells whether t goes before o.
func (t Turn) Before(o Turn) bool {
	if t.Urgency != o.Urgency {
		return t.Urgency > o.Urgency
	}
	if t.Since.IsZero() || o.Since.IsZero() {
		return !t.Since.IsZero()
	}
	return t.Since.Before(o.Since)
}
