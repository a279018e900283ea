package kit_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// limitsInFlight returns limits that allow so many calls at once.
func limitsInFlight(calls int, timeout time.Duration, buckets ...kit.Bucket) *kit.Limits {
	return kit.NewLimits(kit.LimitOptions{Buckets: buckets, Share: 1, InFlight: calls, CallTimeout: timeout, Now: time.Now})
}

// TestRoom: no more calls than allowed are under way; while they wait for each other
// their time does not run, and no token is spent on a call that cannot go out.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limitsInFlight(2, 10*time.Second, kit.Bucket{Name: "x", Rate: 1, Burst: 5})
		var mu sync.Mutex
		under, most := 0, 0
		slow := func(ctx context.Context) error {
			mu.Lock()
			under++
			most = max(most, under)
			mu.Unlock()
			defer func() { mu.Lock(); under--; mu.Unlock() }()
			select {
			case <-time.After(8 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		user := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
		began := time.Now()
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if err := l.Do(user, slow, "x"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); most != 2 || took != 24*time.Second {
			t.Errorf("six calls of 8s, two at once: %d at once, %v", most, took)
		}
	})
}

// TestRoomKeepsTokens: a caller that stops before there was room has taken no token.
func TestRoomKeepsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limitsInFlight(1, -1, kit.Bucket{Name: "x", Rate: 0.001, Burst: 3})
		user := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
		free := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { _ = l.Do(user, func(context.Context) error { <-free; return nil }, "x") })
		synctest.Wait()
		short, cancel := context.WithTimeout(user, time.Second)
		defer cancel()
		for range 5 {
			wg.Go(func() {
				err := l.Do(short, func(context.Context) error { t.Error("it was sent"); return nil }, "x")
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("got %v", err)
				}
			})
		}
		time.Sleep(2 * time.Second)
		close(free)
		wg.Wait()
		began := time.Now()
		for range 2 {
			if err := l.Do(user, func(context.Context) error { return nil }, "x"); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("two tokens are left of three: waited %v", waited)
		}
	})
}

// TestRoomOrder: a class of calls without tokens holds no room, and of the calls that
// wait for room the most urgent one is sent first, regardless of its class.
func TestRoomOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limitsInFlight(1, -1, kit.Bucket{Name: "empty", Rate: 0.01, Burst: 1}, kit.Bucket{Name: "x", Rate: 100, Burst: 100}, kit.Bucket{Name: "y", Rate: 100, Burst: 100})
		nothing := func(context.Context) error { return nil }
		user := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
		_ = l.Do(user, nothing, "empty")
		var wg sync.WaitGroup
		ctx, stop := context.WithCancel(user)
		wg.Go(func() { _ = l.Do(ctx, nothing, "empty") })
		synctest.Wait()

		free := make(chan struct{})
		wg.Go(func() { _ = l.Do(user, func(context.Context) error { <-free; return nil }, "x") })
		synctest.Wait()
		var mu sync.Mutex
		var got []string
		for _, w := range []struct {
			name, bucket string
			urgency      kit.Urgency
		}{{"drift", "x", kit.Background}, {"nodes", "x", kit.Nodes}, {"user", "y", kit.User}} {
			turn := kit.WithTurn(t.Context(), kit.Turn{Urgency: w.urgency})
			wg.Go(func() {
				_ = l.Do(turn, func(context.Context) error { mu.Lock(); got = append(got, w.name); mu.Unlock(); return nil }, w.bucket)
			})
			synctest.Wait()
		}
		began := time.Now()
		close(free)
		synctest.Wait()
		if want := []string{"user", "nodes", "drift"}; !slices.Equal(got, want) || time.Since(began) > 0 {
			t.Errorf("went in the order %v after %v, want %v at once", got, time.Since(began), want)
		}
		stop()
		wg.Wait()
	})
}
