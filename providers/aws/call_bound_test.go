package aws

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	smithymiddleware "github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"
)

// TestBounded: no more calls than allowed are under way, all are made, and who
// gives up does not take anybody's place.
func TestBounded(t *testing.T) {
	const allowed, calls = 3, 40
	stack := smithymiddleware.NewStack("test", func() any { return nil })
	for _, option := range bounded(allowed) {
		if err := option(stack); err != nil {
			t.Fatal(err)
		}
	}
	var now, made atomic.Int32
	handler := smithymiddleware.DecorateHandler(smithymiddleware.HandlerFunc(func(ctx context.Context, _ any) (any, smithymiddleware.Metadata, error) {
		if n := now.Add(1); n > allowed {
			t.Errorf("%d calls at a time, allowed are %d", n, allowed)
		}
		for range 10 {
			runtime.Gosched() // let the others try
		}
		now.Add(-1)
		made.Add(1)
		return nil, smithymiddleware.Metadata{}, ctx.Err()
	}), stack)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * allowed {
		if _, _, err := handler.Handle(gone, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that nobody waits for: got %v", err)
		}
	}
	before := made.Load()
	var group errgroup.Group
	for range calls {
		group.Go(func() error { _, _, err := handler.Handle(t.Context(), nil); return err })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := made.Load() - before; got != calls {
		t.Errorf("calls: got %d, want %d", got, calls)
	}
}
