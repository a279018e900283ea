package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

func TestPerOwner(t *testing.T) {
	var now, most atomic.Int32
	slow := applyEach(func(s plan.Step) plan.Outcome {
		n := now.Add(1)
		for {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return doneOutcome(s)
	})
	var steps []plan.Step
	for i := range 30 {
		steps = append(steps, createStep(testOwner(1), fmt.Sprint(i)))
	}
	r := New(slow, nil, Options{PerOwner: 3}).Run(t.Context(), planOf(steps...), nil, nil)
	if !r.Clean() || most.Load() > 3 {
		t.Errorf("clean %v, %d calls at a time; want at most 3", r.Clean(), most.Load())
	}
}

func TestStepsOfOneBatchGoTogether(t *testing.T) {
	var calls atomic.Int32
	apply := func(ctx context.Context, b plan.Batch) []plan.Outcome {
		calls.Add(1)
		return applyEach(doneOutcome)(ctx, b)
	}
	var steps []plan.Step
	for i := range 10 { // more than one owner may have in flight, but it is one call
		steps = append(steps, inBatch("x", createStep(testOwner(1), fmt.Sprint(i))))
	}
	r := New(apply, nil, Options{PerOwner: 2}).Run(t.Context(), planOf(steps...), nil, nil)
	if !r.Clean() || calls.Load() != 1 {
		t.Errorf("clean %v, %d calls; want 1", r.Clean(), calls.Load())
	}
}

// TestStepsOfACallTakeOneRoom: many steps of one call keep another call of their owner
// waiting no more than one does.
func TestStepsOfACallTakeOneRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apply := func(ctx context.Context, b plan.Batch) []plan.Outcome {
			time.Sleep(time.Second)
			return applyEach(doneOutcome)(ctx, b)
		}
		var steps []plan.Step
		for i := range 10 {
			for _, call := range []string{"x", "y", "z"} {
				steps = append(steps, inBatch(call, createStep(testOwner(1), fmt.Sprint(call, i))))
			}
		}
		slices.SortFunc(steps, func(a, b plan.Step) int { return strings.Compare(a.Batch, b.Batch) })
		for most, seconds := range map[int]time.Duration{1: 3, 2: 2, 3: 1} {
			began := time.Now()
			r := New(apply, nil, Options{PerOwner: most}).Run(t.Context(), planOf(steps...), nil, nil)
			if took := time.Since(began); !r.Clean() || took != seconds*time.Second {
				t.Errorf("at most %d calls: clean %v, took %v, want %d s", most, r.Clean(), took, seconds)
			}
		}
	})
}

// TestRoom: a resource that is not desired any more is deleted although a creation before
// it does not fit; a resource that serves until its successor exists stays, and so does
// one that only depends on another resource.
func TestRoom(t *testing.T) {
	o := testOwner(1)
	full := map[string]plan.Outcome{"new": failedOutcome(fault.Quota)}
	remove := func(name string, reason plan.Reason, needs ...plan.StepID) plan.Step {
		s := createStep(o, name)
		s.ID.Action, s.Reason, s.Needs, s.Target.In = plan.Delete, reason, needs, testKey("lb")
		return s
	}
	created := createStep(o, "new")
	created.Target.In = testKey("lb")
	elsewhere := remove("elsewhere", plan.Unwanted, created.ID)
	elsewhere.Target.In = testKey("other")
	other := remove("group", plan.Unwanted, created.ID)
	other.ID.Key.Kind = "group"
	other.Target.Key = other.ID.Key
	hanging := createStep(o, "hanging", "new")
	replaced := remove("replaced", plan.Replaced, created.ID)
	replaced.Pair = plan.Pair{Create: created.ID, Delete: replaced.ID, Order: plan.CreateFirst}
	for name, tc := range map[string]struct {
		step   plan.Step
		faults map[string]plan.Outcome
		want   State
	}{
		"unwanted":                   {remove("old", plan.Unwanted, created.ID), full, Done},
		"refused for another reason": {remove("old", plan.Unwanted, created.ID), map[string]plan.Outcome{"new": failedOutcome(fault.Invalid)}, Skipped},
		"of something else":          {elsewhere, full, Skipped},
		"of another kind":            {other, full, Skipped},
		"replaced":                   {replaced, full, Skipped},
		"behind what hangs on it":    {remove("old", plan.Unwanted, hanging.ID), full, Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(applyWithFaults(tc.faults), nil, Options{}).Run(t.Context(), planOf(created, hanging, tc.step), nil, nil)
			if got := stepStates(r)[tc.step.ID.Key.Name]; got != tc.want {
				t.Errorf("it is %s, want %s", got, tc.want)
			}
		})
	}
}
