package kit_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// TestYield: a shared call lets the calls of single Services pass, except less urgent
// ones, takes no token meanwhile, and has a limit.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 1, Burst: 1})
		nodes := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.Nodes})
		user := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
		yielded := func(ctx context.Context) time.Duration {
			began := time.Now()
			l.Yield(ctx, 10*time.Second, "x")
			return time.Since(began).Round(time.Second)
		}
		var wg sync.WaitGroup
		call := func(ctx context.Context) {
			wg.Go(func() {
				if err := l.Do(ctx, func(context.Context) error { return nil }, "x"); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if d := yielded(user); d != 0 {
			t.Errorf("waited %v without another caller", d)
		}
		for range 4 {
			call(nodes)
		}
		if d := yielded(user); d != time.Second {
			t.Errorf("waited %v for a token that less urgent calls want, too; want 1s", d)
		}
		if d := yielded(nodes); d != 3*time.Second {
			t.Errorf("waited %v for three calls that are as urgent, want 3s", d)
		}
		for range 20 {
			call(user)
		}
		if d := yielded(nodes); d != 10*time.Second {
			t.Errorf("waited %v, want the limit of 10s", d)
		}
		wg.Wait()
	})
}
