package kit

import (
	"cmp"
	"context"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// Wait configures how a session waits for asynchronous changes of a cloud. A wait holds
// only its goroutine.
type Wait struct {
	First, Longest time.Duration // pauses between two polls; they grow
	// Growth is the factor between two pauses; 0: it doubles.
	Growth float64
	// Before is the pause before the first poll, if an earlier one is known to be useless.
	Before time.Duration
	// Patience is the time after which the wait ends with Pending; 0: only the context ends
	// it.
	Patience time.Duration
	Now      func() time.Time
}

// State is the result of one poll of a slow change.
type State struct {
	Done  bool
	After time.Duration // pause that the cloud requests; zero: none
}

// Until polls until the change is complete, and returns nil then. It returns the error of a
// poll unchanged, except Unavailable and Throttled ones, after which it repeats the poll;
// a Pending fault when the patience or the context is over: the change was accepted and
// continues without us.
func (w Wait) Until(ctx context.Context, what string, ask func(context.Context) (State, error)) error {
	began, pause := w.Now(), w.First
	if !pauseFor(ctx, w.Before) {
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
		if !pauseFor(ctx, next) {
			return w.over(what, ctx.Err())
		}
		pause = min(time.Duration(float64(pause)*cmp.Or(w.Growth, 2)), w.Longest)
	}
}

// pauseFor waits, and reports whether the context has not ended meanwhile.
func pauseFor(ctx context.Context, pause time.Duration) bool {
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

// startPause starts a pause that runs beside the caller. The returned function waits for
// the end, and reports whether the context has not ended before.
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

// IsOver reports whether an error of Until means that the change continues without us.
func IsOver(err error) bool { return fault.Is(err, fault.Pending) }
