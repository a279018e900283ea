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
	var now, made atomic.Int32
	last := smithymiddleware.HandlerFunc(func(ctx context.Context, _ any) (any, smithymiddleware.Metadata, error) {
		if n := now.Add(1); n > allowed {
			t.Errorf("%d calls at a time, allowed are %d", n, allowed)
		}
		for range 10 {
			runtime.Gosched() // let the others try
		}
		now.Add(-1)
		made.Add(1)
		return nil, smithymiddleware.Metadata{}, ctx.Err()
	})
	options := bounded(allowed)
	call := func(ctx context.Context) error { // with a stack of its own, as every call of the SDK
		stack := smithymiddleware.NewStack("test", func() any { return nil })
		for _, option := range options {
			if err := option(stack); err != nil {
				return err
			}
		}
		_, _, err := smithymiddleware.DecorateHandler(last, stack).Handle(ctx, nil)
		return err
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * allowed {
		if err := call(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that nobody waits for: got %v", err)
		}
	}
	before := made.Load()
	var group errgroup.Group
	for range calls {
		group.Go(func() error { return call(t.Context()) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := made.Load() - before; got != calls {
		t.Errorf("calls: got %d, want %d", got, calls)
	}
}
