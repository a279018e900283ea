package kit_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// server is a cloud with a token bucket of its own, full at first.
type server struct {
	rate, burst float64
	after       time.Duration // that a refusal asks for
	took        time.Duration // by a call

	mu      sync.Mutex
	tokens  float64
	at      time.Time
	calls   int
	refused int
}

func (s *server) call(context.Context) error {
	time.Sleep(s.took)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.at.IsZero() {
		s.tokens, s.at = s.burst, now
	}
	s.tokens = min(s.burst, s.tokens+now.Sub(s.at).Seconds()*s.rate)
	s.at = now
	s.calls++
	if s.tokens < 1 {
		s.refused++
		return &fault.Fault{Meaning: fault.Throttled, After: s.after, Text: "slower"}
	}
	s.tokens--
	return nil
}

func newLimits(share float64, buckets ...kit.Bucket) *kit.Limits {
	return kit.NewLimits(kit.LimitOptions{Buckets: buckets, Share: share, Now: time.Now})
}

// TestRate: a thousand calls at once take as long as the documented rate allows, and
// none is refused.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{rate: 10, burst: 40, took: 50 * time.Millisecond}
		l := newLimits(1, kit.Bucket{Name: "reads", Rate: 10, Burst: 40})
		began := time.Now()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if err := l.Do(t.Context(), s.call, "reads"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took, ideal := time.Since(began), 96*time.Second; took > ideal*11/10 || s.refused > 0 {
			t.Errorf("took %v, ideal %v; %d of %d refused", took, ideal, s.refused, s.calls)
		}
	})
}

// TestWindow: no window has more calls than the bucket holds, and each is used up.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, window = 3, time.Minute
		l := newLimits(0, kit.Bucket{Name: "deletions", Burst: most, Window: window})
		began := time.Now()
		var mu sync.Mutex
		var sent []time.Time
		var wg sync.WaitGroup
		for range 3*most + 1 {
			wg.Go(func() {
				err := l.Do(t.Context(), func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					sent = append(sent, time.Now())
					return nil
				}, "deletions")
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i := most; i < len(sent); i++ {
			if apart := sent[i].Sub(sent[i-most]); apart < window {
				t.Errorf("call %d came %s after call %d", i, apart, i-most)
			}
		}
		if took := time.Since(began); took != 3*window {
			t.Errorf("took %s, want %s", took, 3*window)
		}
	})
}

// TestOthersTakeTheRate: with half of the rate gone to others, the calls still all
// get through, few of them refused.
func TestOthersTakeTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{rate: 5, burst: 40, took: 20 * time.Millisecond}
		l := newLimits(1, kit.Bucket{Name: "reads", Rate: 10, Burst: 40})
		began := time.Now()
		var wg sync.WaitGroup
		for range 600 {
			wg.Go(func() {
				if err := l.Do(t.Context(), s.call, "reads"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 200*time.Second || s.refused*33 > s.calls {
			t.Errorf("took %v, ideal 112s; %d of %d refused", took, s.refused, s.calls)
		}
	})
}

// TestOrder: waiting calls are served by urgency, then by the age of their work.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 1, Burst: 1})
		start := time.Now()
		var mu sync.Mutex
		var got []string
		do := func(ctx context.Context, name string) {
			if err := l.Do(ctx, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, name)
				return nil
			}, "x"); err != nil {
				t.Error(err)
			}
		}
		do(t.Context(), "first")
		var wg sync.WaitGroup
		for _, w := range []struct {
			name string
			turn kit.Turn
		}{
			{"no turn", kit.Turn{}},
			{"drift", kit.Turn{Since: start.Add(-time.Hour)}},
			{"young user", kit.Turn{Urgency: kit.User, Since: start}},
			{"node", kit.Turn{Urgency: kit.Nodes, Since: start.Add(-time.Minute)}},
			{"old user", kit.Turn{Urgency: kit.User, Since: start.Add(-time.Second)}},
		} {
			ctx := t.Context()
			if w.turn != (kit.Turn{}) {
				ctx = kit.WithTurn(ctx, w.turn)
			}
			wg.Go(func() { do(ctx, w.name) })
			synctest.Wait()
		}
		wg.Wait()
		if d := cmp.Diff([]string{"first", "old user", "young user", "node", "drift", "no turn"}, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// TestReserve: a user's change does not wait behind a thousand drift checks.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 10, Burst: 40})
		nothing := func(context.Context) error { return nil }
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { _ = l.Do(ctx, nothing, "x") })
		}
		time.Sleep(time.Second)
		began := time.Now()
		user := kit.WithTurn(ctx, kit.Turn{Urgency: kit.User, Since: began})
		for range 8 {
			if err := l.Do(user, nothing, "x"); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("eight calls of a user waited %v", took)
		}
		cancel()
		wg.Wait()
	})
}

// TestRetryAfter: a bucket stays closed for as long as the answer asks, for all calls, and
// the refused call is repeated.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 100, Burst: 100}, kit.Bucket{Name: "y", Rate: 100, Burst: 100})
		began := time.Now()
		var calls atomic.Int32
		err := l.Do(t.Context(), func(context.Context) error {
			if calls.Add(1) == 1 {
				return &fault.Fault{Meaning: fault.Throttled, After: 17 * time.Second}
			}
			return nil
		}, "x")
		if err != nil || calls.Load() != 2 || time.Since(began).Round(time.Second) != 17*time.Second {
			t.Errorf("%v after %d calls and %v; want the second call after 17s", err, calls.Load(), time.Since(began))
		}
		began = time.Now()
		if err := l.Do(t.Context(), func(context.Context) error { return nil }, "y"); err != nil || time.Since(began) > 0 {
			t.Errorf("another bucket waited %v: %v", time.Since(began), err)
		}
	})
}

// TestPatience: a call that is only ever throttled ends, with the cloud's answer.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1)
		calls := 0
		err := l.Do(t.Context(), func(context.Context) error { calls++; return fault.New(fault.Throttled, "never") }, "unknown")
		if !fault.Is(err, fault.Throttled) || calls > 60 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})
}

// TestStop: a call that waits when the program stops is not sent.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 0.001, Burst: 1})
		nothing := func(context.Context) error { return nil }
		_ = l.Do(t.Context(), nothing, "x")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err := l.Do(ctx, func(context.Context) error { t.Error("it was sent"); return nil }, "x")
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
	})
}

// TestLittleLeftOfMuch: if the cloud reports that only a part of a large bucket is left,
// work that is not urgent continues.
func TestLittleLeftOfMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "writes", Rate: 8, Burst: 1500})
		l.Remaining("writes", 150)
		began := time.Now()
		ctx := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.Nodes})
		for range 100 {
			if err := l.Do(ctx, func(context.Context) error { return nil }, "writes"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("100 calls of 150 that are left take %v", took)
		}
	})
}

// TestRemaining: what the cloud says is left counts, where it is less.
func TestRemaining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 1, Burst: 100})
		l.Remaining("x", 2)
		began := time.Now()
		user := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
		for range 4 {
			if err := l.Do(user, func(context.Context) error { return nil }, "x"); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began).Round(time.Second); took != 2*time.Second {
			t.Errorf("took %v; want 2s", took)
		}
	})
}

// TestCallTimeout: a call that hangs ends by its own deadline, and the wait for a
// token does not count.
func TestCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := kit.NewLimits(kit.LimitOptions{Buckets: []kit.Bucket{{Name: "x", Rate: 0.01, Burst: 1}}, Share: 1, CallTimeout: time.Minute, Now: time.Now})
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		began := time.Now()
		_ = l.Do(t.Context(), hang, "x")
		_ = l.Do(t.Context(), hang, "x")
		if took := time.Since(began); took != 160*time.Second {
			t.Errorf("took %v; want 100s for the second token and a minute", took)
		}
	})
}

// TestJoint: work for several is as urgent and as old as the first of them.
func TestJoint(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	old, user, young := kit.Turn{Since: at.Add(-time.Hour)}, kit.Turn{Urgency: kit.User, Since: at}, kit.Turn{Urgency: kit.User, Since: at.Add(time.Second)}
	for i, of := range [][]kit.Turn{{old, user, young}, {young, old, user}, {user, young}} {
		var all []context.Context
		for _, turn := range of {
			all = append(all, kit.WithTurn(t.Context(), turn))
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if got := kit.TurnOf(kit.WithJoint(t.Context(), all)); got != user {
				t.Errorf("got %v", got)
			}
		})
	}
	if got := kit.TurnOf(kit.WithJoint(t.Context(), nil)); got != (kit.Turn{}) {
		t.Errorf("without an account: %v", got)
	}
}

// TestRaise: a call that waits behind hundreds is sent at once when a user's change needs
// its result, also if it serves others at the same time.
func TestRaise(t *testing.T) {
	for _, name := range []string{"alone", "joint"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimits(1, kit.Bucket{Name: "x", Rate: 1, Burst: 10})
				nothing := func(context.Context) error { return nil }
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				for range 500 {
					wg.Go(func() { _ = l.Do(ctx, nothing, "x") })
				}
				time.Sleep(time.Second)
				begun, nodes := make(chan time.Time, 1), kit.WithTurn(ctx, kit.Turn{Urgency: kit.Nodes, Since: time.Now().Add(time.Hour)})
				for range 200 { // of the same urgency, and older
					wg.Go(func() { _ = l.Do(kit.WithTurn(ctx, kit.Turn{Urgency: kit.Nodes, Since: time.Now()}), nothing, "x") })
				}
				work := nodes
				if name == "joint" {
					work = kit.WithJoint(ctx, []context.Context{kit.WithTurn(ctx, kit.Turn{}), nodes})
				}
				wg.Go(func() {
					if l.Do(work, nothing, "x") == nil {
						begun <- time.Now()
					}
				})
				time.Sleep(10 * time.Second)
				raised := time.Now()
				kit.Raise(nodes, kit.Turn{Urgency: kit.User, Since: raised})
				kit.Raise(nodes, kit.Turn{Urgency: kit.Retry, Since: raised}) // less is nothing
				if took := (<-begun).Sub(raised); took > 0 {
					t.Errorf("it waited %v", took)
				}
				if got := kit.TurnOf(work); got.Urgency != kit.User {
					t.Errorf("the turn is %v", got)
				}
				cancel()
				wg.Wait()
			})
		})
	}
}

// TestUnlimited: with no share of the documented rates calls go at once, until the
// cloud refuses some.
func TestUnlimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{rate: 10, burst: 100}
		l := newLimits(kit.Unlimited(), kit.Bucket{Name: "reads", Rate: 1, Burst: 1})
		began := time.Now()
		for range 100 {
			if err := l.Do(t.Context(), s.call, "reads"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("100 calls took %v", took)
		}
		if err := l.Do(t.Context(), s.call, "reads"); err != nil {
			t.Fatal(err)
		}
		if s.refused != 1 || time.Since(began) == 0 {
			t.Errorf("beyond the cloud's own rate: %d refused, after %v", s.refused, time.Since(began))
		}
	})
}

// TestBlame: only the bucket that a refusal is about is closed.
func TestBlame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := kit.NewLimits(kit.LimitOptions{
			Buckets: []kit.Bucket{{Name: "all", Rate: 100, Burst: 100}, {Name: "x", Rate: 100, Burst: 100}}, Share: 1, Now: time.Now,
			Blame: func(_ error, names []string) []string { return names[len(names)-1:] },
		})
		began := time.Now()
		first := true
		refuseOnce := func(context.Context) error {
			if first {
				first = false
				return &fault.Fault{Meaning: fault.Throttled, After: time.Minute}
			}
			return nil
		}
		done := make(chan error)
		go func() { done <- l.Do(t.Context(), refuseOnce, "all", "x") }()
		synctest.Wait()
		if err := l.Do(t.Context(), func(context.Context) error { return nil }, "all"); err != nil || time.Since(began) > 0 {
			t.Errorf("the other bucket waited %v: %v", time.Since(began), err)
		}
		if err := <-done; err != nil || time.Since(began) < time.Minute {
			t.Errorf("the refused call came through after %v: %v", time.Since(began), err)
		}
	})
}

// TestFree: a bucket is free while it has a token and no call waits; asking takes none.
func TestFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, kit.Bucket{Name: "x", Rate: 1, Burst: 1})
		user := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
		first, second := l.Free(user, "x"), l.Free(user, "x")
		err := l.Do(user, func(context.Context) error { return nil }, "x")
		if !first || !second || err != nil || l.Free(user, "x") {
			t.Errorf("free %v, %v and after a call %v: %v", first, second, l.Free(user, "x"), err)
		}
	})
}
