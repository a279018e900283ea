package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

const (
	// The first poll is immediate and the next ones follow soon, for most waits are short; long
	// waits poll less often.
	firstPoll = 5 * time.Millisecond
	lastPoll  = 200 * time.Millisecond
)

// Until calls check until it returns nil. When ctx ends first, the error is that
// of ctx and the last one of check.
func Until(ctx context.Context, check func(context.Context) error) error {
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		err := check(ctx)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-timer.C:
		}
	}
}

// Eventually calls check until it returns nil, and ends the test with the last
// error when that takes longer than the timeout.
func Eventually(t testing.TB, timeout time.Duration, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := Until(ctx, func(context.Context) error { return check() }); err != nil {
		t.Fatalf("after %s: %v", timeout, err)
	}
}
