package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// term is a fence that tests close.
type term struct {
	err error
	ctx context.Context //nolint:containedctx // the test's
	end context.CancelFunc
}

func newTerm(t *testing.T) *term {
	f := &term{}
	f.ctx, f.end = context.WithCancel(t.Context())
	return f
}

func (f *term) Err() error            { return f.err }
func (f *term) Term() context.Context { return f.ctx }

// TestFence: behind a closed fence no batch is sent, and the known state stays known.
func TestFence(t *testing.T) {
	f := newTerm(t)
	closed := errors.New("the Lease is over")
	sent := 0
	e := New(applyEach(func(s plan.Step) plan.Outcome {
		sent++
		f.err = closed // it runs out during the first call
		return doneOutcome(s)
	}), nil, Options{Fence: f})
	report := e.Run(t.Context(), planOf(inBatch("x", createStep(testOwner(1), "a")), inBatch("x", createStep(testOwner(1), "b", "a"))), nil, nil)
	if sent != 1 || stepStates(report)["a"] != Done || stepStates(report)["b"] != Failed {
		t.Errorf("%d calls were sent: %v", sent, stepStates(report))
	}
	if err := report.Err(); !errors.Is(err, closed) || !fault.Is(err, fault.Unavailable) || report.Stale() {
		t.Errorf("got %v, stale %v", err, report.Stale())
	}
}

// TestTermEnds: a call that is under way when the term ends is abandoned, and its outcome
// is unknown.
func TestTermEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTerm(t)
		e := New(func(ctx context.Context, b plan.Batch) []plan.Outcome {
			<-ctx.Done()
			return []plan.Outcome{{Err: fault.New(fault.Ambiguous, "no answer"), Sent: plan.MaybeSent}}
		}, nil, Options{Fence: f})
		began := time.Now()
		time.AfterFunc(time.Second, f.end)
		report := e.Run(t.Context(), planOf(createStep(testOwner(1), "a")), nil, nil)
		if took := time.Since(began); took != time.Second || !report.Stale() {
			t.Errorf("after %v: stale %v", took, report.Stale())
		}
	})
}
