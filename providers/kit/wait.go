package kit

import (
	"cmp"
	"context"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// Wait is how a session waits for what a cloud does in its own time. A wait holds
// nothing but its goroutine.
type Wait struct {
	First, Longest time.Duration // pauses between two questions; they grow
	// Growth is by how much each pause is longer than the one before; 0: it doubles.
	Growth float64
	// Before is the pause before the first question, where it is known that an earlier
	// one is in vain.
	Before time.Duration
	// Patience is after how long what has not ended is handed up; 0: the context
	// alone ends it.
	Patience time.Duration
	Now      func() time.Time
}

// State is what one question about a slow change brought.
type State struct {
	Done  bool
	After time.Duration // when to ask again, where the cloud says it
}

// Until asks until what is waited for is done, and returns nil then. It returns the
// error of a question as it is, but for Unavailable and Throttled ones, after which it
// asks again; a Pending fault when the patience or the context is over: the change was
// accepted and goes on without us.
func (w Wait) Until(ctx context.Context, what string, ask func(context.Context) (State, error)) error {
	began, pause := w.Now(), w.First
	if !pausing(ctx, w.Before) {
		return w.over(what, ctx.Err())
	}
	for {
		state, err := ask(ctx)
		switch {
		case err == nil && state.Done:
			return nil
		case err != nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Throttled):
			return err
		}
		next := max(pause, min(state.After, w.Longest), min(fault.After(err), w.Longest))
		if w.Patience > 0 {
			left := w.Patience - w.Now().Sub(began)
			if left <= 0 {
				return w.over(what, err)
			}
			next = min(next, left)
		}
		if !pausing(ctx, next) {
			return w.over(what, ctx.Err())
		}
		pause = min(time.Duration(float64(pause)*cmp.Or(w.Growth, 2)), w.Longest)
	}
}

// pausing waits, and tells whether the context has not ended meanwhile.
func pausing(ctx context.Context, pause time.Duration) bool {
	if pause <= 0 {
		return true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// startPause begins a pause that runs beside what the caller does. The function that it returns
// waits for the end, and reports whether the context has not ended before.
func startPause(d time.Duration) func(context.Context) bool {
	timer := time.NewTimer(d)
	return func(ctx context.Context) bool {
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

func (w Wait) over(what string, err error) error {
	return &fault.Fault{Meaning: fault.Pending, After: w.Longest, Text: what + " has not ended yet", Err: err}
}

// IsOver tells whether an error of Until says that the change goes on without us.
func IsOver(err error) bool { return fault.Is(err, fault.Pending) }
