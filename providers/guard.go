package providers

import (
	"context"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// A panic in a session must not end the program for all Services: sessions run in
// goroutines that many of them share. All reads and writes pass through this file,
// which turns a panic into a fault of the Services involved.

// guardedRead is Read with panics as faults. A read for many that panics is repeated
// for each alone, so that only the Service that triggers the defect is affected.
func guardedRead(read func(context.Context, []Scope) []Read) func(context.Context, []Scope) []Read {
	return func(ctx context.Context, scopes []Scope) (out []Read) {
		if fault.Guarded(fault.Internal, func() { out = read(ctx, scopes) }) == nil {
			return out
		}
		out = make([]Read, len(scopes))
		for i := range scopes {
			err := fault.Guarded(fault.Internal, func() {
				if one := read(ctx, scopes[i:i+1]); len(one) == 1 {
					out[i] = one[0]
				}
			})
			if err != nil {
				out[i] = Read{Err: err}
			}
		}
		return out
	}
}

// guardedApply is Apply with panics as faults. The outcome is then unknown, so
// it is read before anything else.
func guardedApply(apply func(context.Context, plan.Batch) []plan.Outcome) func(context.Context, plan.Batch) []plan.Outcome {
	return func(ctx context.Context, b plan.Batch) (out []plan.Outcome) {
		if err := fault.Guarded(fault.Ambiguous, func() { out = apply(ctx, b) }); err != nil {
			out = make([]plan.Outcome, len(b.Steps))
			for i := range out {
				out[i] = plan.Outcome{Sent: plan.WasSent, Err: err}
			}
		}
		return out
	}
}
