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

// refuseBatch answers a whole batch with one fault if a rejected step is in it.
func refuseBatch(calls *atomic.Int32, o plan.Outcome) Apply {
	return func(ctx context.Context, b plan.Batch) []plan.Outcome {
		calls.Add(1)
		bad := slices.ContainsFunc(b.Steps, func(s plan.Step) bool { return strings.HasPrefix(s.ID.Key.Name, "bad") })
		if !bad {
			return applyEach(doneOutcome)(ctx, b)
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
		"the first":               {[]int{0}, failedOutcome(fault.Invalid), 99, 17},
		"the last":                {[]int{99}, failedOutcome(fault.Quota), 99, 17},
		"in the middle":           {[]int{50}, failedOutcome(fault.Exists), 99, 17},
		"an unknown member":       {[]int{33}, failedOutcome(fault.NotFound), 99, 17},
		"all: the budget holds":   {upTo(100), failedOutcome(fault.Invalid), 0, 17},
		"never a timeout":         {[]int{1}, plan.Outcome{Err: fault.New(fault.Invalid, "cut"), Sent: plan.MaybeSent}, 0, 1},
		"never when throttled":    {[]int{1}, failedOutcome(fault.Throttled), 0, 1},
		"never when unavailable":  {[]int{1}, failedOutcome(fault.Unavailable), 0, 1},
		"never when denied":       {[]int{1}, failedOutcome(fault.Denied), 0, 1},
		"never when it is a wait": {[]int{1}, failedOutcome(fault.Pending), 0, 1},
		"no member is rejected":   {nil, failedOutcome(fault.Invalid), 100, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []plan.Step
			for i := range 100 {
				name := fmt.Sprintf("good%d", i)
				if slices.Contains(tc.bad, i) {
					name = fmt.Sprintf("bad%d", i)
				}
				steps = append(steps, inBatch("x", createStep(testOwner(1), name)))
			}
			var calls atomic.Int32
			r := New(refuseBatch(&calls, tc.fault), nil, Options{}).Run(t.Context(), planOf(steps...), nil, nil)
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
