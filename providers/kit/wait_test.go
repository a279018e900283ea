package kit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestUntil: pauses double and follow the cloud; a question that is not answered is
// asked again; another error ends the wait.
func TestUntil(t *testing.T) {
	busy := fault.New(fault.Unavailable, "no answer")
	for name, tc := range map[string]struct {
		ask       func(n int) (kit.State, error)
		want      fault.Meaning
		fails     bool
		took      time.Duration
		questions int
	}{
		"done at once":        {ask: func(int) (kit.State, error) { return kit.State{Done: true}, nil }, questions: 1},
		"pauses double":       {ask: func(n int) (kit.State, error) { return kit.State{Done: n == 4}, nil }, took: 7 * time.Second, questions: 4},
		"the cloud says when": {ask: func(n int) (kit.State, error) { return kit.State{Done: n == 2, After: 6 * time.Second}, nil }, took: 6 * time.Second, questions: 2},
		"no answer is asked again": {ask: func(n int) (kit.State, error) {
			if n == 1 {
				return kit.State{}, busy
			}
			return kit.State{Done: true}, nil
		}, took: time.Second, questions: 2},
		"it has failed": {ask: func(int) (kit.State, error) { return kit.State{}, fault.New(fault.Quota, "full") }, want: fault.Quota, fails: true, questions: 1},
		"too long":      {ask: func(int) (kit.State, error) { return kit.State{}, nil }, want: fault.Pending, fails: true, took: time.Minute, questions: 11},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, began := 0, time.Now()
				err := kit.Wait{First: time.Second, Longest: 8 * time.Second, Patience: time.Minute, Now: time.Now}.Until(t.Context(), "operation x", func(context.Context) (kit.State, error) {
					n++
					return tc.ask(n)
				})
				if (err != nil) != tc.fails || tc.fails && fault.Of(err) != tc.want {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took != tc.took || n != tc.questions {
					t.Errorf("%d questions in %v; want %d in %v", n, took, tc.questions, tc.took)
				}
			})
		})
	}
}

// TestUntilStops: the end of the program ends the wait, not the change.
func TestUntilStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := kit.Wait{First: time.Second, Longest: time.Minute, Now: time.Now}.Until(ctx, "operation x", func(context.Context) (kit.State, error) { return kit.State{}, nil })
		if !kit.IsOver(err) {
			t.Errorf("got %v", err)
		}
	})
}

// TestUntilPaced: the first poll is sent when the caller expects the end, and the pauses
// after it grow as the caller requests.
func TestUntilPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []time.Duration
		w := kit.Wait{Before: 4 * time.Second, First: 2 * time.Second, Growth: 1.5, Longest: time.Minute, Now: time.Now}
		if err := w.Until(t.Context(), "operation x", func(context.Context) (kit.State, error) {
			asked = append(asked, time.Since(began))
			return kit.State{Done: len(asked) == 3}, nil
		}); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]time.Duration{4 * time.Second, 6 * time.Second, 9 * time.Second}, asked); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}
