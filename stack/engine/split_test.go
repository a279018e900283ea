package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// refusing answers a whole batch with one fault if a bad step is in it.
func refusing(calls *atomic.Int32, o plan.Outcome) Apply {
	return func(ctx context.Context, b plan.Batch) []plan.Outcome {
		calls.Add(1)
		bad := slices.ContainsFunc(b.Steps, func(s plan.Step) bool { return strings.HasPrefix(s.ID.Key.Name, "bad") })
		if !bad {
			return each(done)(ctx, b)
		}
		out := make([]plan.Outcome, len(b.Steps))
		for i := range out {
			out[i] = o
		}
		return out
	}
}

func TestSplitting(t *testing.T) {
	for name, tc := range map[string]struct {
		bad   []int // positions among a hundred
		fault plan.Outcome
		done  int // at least
		calls int // at most
	}{
		"the first":               {[]int{0}, failed(fault.Invalid), 99, 17},
		"the last":                {[]int{99}, failed(fault.Quota), 99, 17},
		"in the middle":           {[]int{50}, failed(fault.Exists), 99, 17},
		"an unknown member":       {[]int{33}, failed(fault.NotFound), 99, 17},
		"all: the budget holds":   {upTo(100), failed(fault.Invalid), 0, 17},
		"never a timeout":         {[]int{1}, plan.Outcome{Err: fault.New(fault.Invalid, "cut"), Sent: plan.MaybeSent}, 0, 1},
		"never when throttled":    {[]int{1}, failed(fault.Throttled), 0, 1},
		"never when unavailable":  {[]int{1}, failed(fault.Unavailable), 0, 1},
		"never when denied":       {[]int{1}, failed(fault.Denied), 0, 1},
		"never when it is a wait": {[]int{1}, failed(fault.Pending), 0, 1},
		"nobody is bad":           {nil, failed(fault.Invalid), 100, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []plan.Step
			for i := range 100 {
				name := fmt.Sprintf("good%d", i)
				if slices.Contains(tc.bad, i) {
					name = fmt.Sprintf("bad%d", i)
				}
				steps = append(steps, in("x", step(owner(1), name)))
			}
			var calls atomic.Int32
			r := New(refusing(&calls, tc.fault), nil, Options{}).Run(t.Context(), planOf(steps...), nil, nil)
			good := 0
			for _, res := range r.Results {
				if res.State == Done {
					good++
				}
				if bad := strings.HasPrefix(res.Step.ID.Key.Name, "bad"); bad && res.State == Done {
					t.Errorf("%s is done", res.Step.ID)
				}
			}
			if good < tc.done || int(calls.Load()) > tc.calls {
				t.Errorf("%d done with %d calls; want at least %d with at most %d", good, calls.Load(), tc.done, tc.calls)
			}
		})
	}
}

func upTo(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}
