package cluster

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestUntilReturnsWithTheFirstSuccess(t *testing.T) {
	calls := 0
	err := Until(t.Context(), func(context.Context) error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("want no error after 3 calls, got %v after %d", err, calls)
	}
}

func TestUntilTellsTheLastError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	last := errors.New("still not")
	err := Until(ctx, func(context.Context) error { return last })
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, last) {
		t.Errorf("want the deadline and the last error, got %v", err)
	}
}
