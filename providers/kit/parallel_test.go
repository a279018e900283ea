package kit_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestPanicsArePassedOn: a panic in one of many goroutines is passed to the caller, once
// the others are done, with the stack of where it happened.
func TestPanicsArePassedOn(t *testing.T) {
	for name, each := range map[string]func([]int, func(int)){"ForEach": kit.ForEach[int], "ForAll": kit.ForAll[int]} {
		var done atomic.Int64
		err := fault.Guarded(fault.Internal, func() {
			each(make([]int, 40), func(int) {
				if done.Add(1) == 3 {
					panicOnPurpose()
				}
			})
		})
		defect, ok := errors.AsType[*fault.Defect](error(err))
		if !ok || !strings.Contains(defect.Stack, "panicOnPurpose") || done.Load() != 40 {
			t.Errorf("%s: %d done, defect %v", name, done.Load(), defect)
		}
	}
}

func panicOnPurpose() { panic("on purpose") }
