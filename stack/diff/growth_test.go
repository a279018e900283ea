package diff_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// swapRanges returns a Service whose n allowed ranges become n others: each new range
// is admitted before any old one is removed.
func swapRanges(n int) (want, have *stack.Stack) {
	var fresh, old []stack.Resource
	for i := range n {
		fresh = append(fresh, ruleFor(fmt.Sprintf("new-%d", i)))
		old = append(old, ruleFor(fmt.Sprintf("old-%d", i)))
	}
	return desiredStack(fresh...), observedStack(old...)
}

func runAll(t testing.TB, p plan.Plan, have *stack.Stack) engine.Report {
	t.Helper()
	apply := func(_ context.Context, b plan.Batch) []plan.Outcome {
		out := make([]plan.Outcome, len(b.Steps))
		for i, s := range b.Steps {
			out[i] = plan.Done(s.Target)
		}
		return out
	}
	return engine.New(apply, nil, engine.Options{}).Run(t.Context(), p, have, nil)
}

// TestEdgesGrowAsStepsDo: every need is planned, while the stored edges, which every
// user of a plan iterates over, grow only as the steps do.
func TestEdgesGrowAsStepsDo(t *testing.T) {
	const n = 500
	want, have := swapRanges(n)
	p := diff.Compare(want, have, toyRules(), ledgerWith(nil))
	needs := 0
	for _, s := range p.Steps {
		needs += len(s.AllNeeds())
	}
	if len(p.Steps) != 2*n || needs != n*n {
		t.Fatalf("%d steps with %d needs, want %d with %d", len(p.Steps), needs, 2*n, n*n)
	}
	if edges := plan.NewGraph(p.Steps).Edges(); edges > 3*len(p.Steps) {
		t.Errorf("%d edges for %d steps", edges, len(p.Steps))
	}
	if r := runAll(t, p, have); !r.Clean() || len(r.Have.Resources) != n {
		t.Errorf("clean %v, %d resources", r.Clean(), len(r.Have.Resources))
	}
	first := p.Steps[0].ID
	under := p.Under(func(s plan.Step) plan.Verdict {
		return plan.Verdict{Blocked: s.ID == first, By: plan.ByPolicy, Policy: "test"}
	})
	if len(under.Blocked) != n+1 {
		t.Errorf("%d steps held with the first creation, want it and all deletions", len(under.Blocked))
	}
}

// BenchmarkSwap compares and runs a thousand steps with a quarter of a million needs.
func BenchmarkSwap(b *testing.B) {
	want, have := swapRanges(500)
	for b.Loop() {
		p := diff.Compare(want, have, toyRules(), ledgerWith(nil))
		if r := runAll(b, p, have); !r.Clean() {
			b.Fatal(r.Err())
		}
	}
}
