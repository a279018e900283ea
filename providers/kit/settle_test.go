package kit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestSettling: a hundred things that are busy for eight seconds each settle together,
// asked for in a handful of questions, one of them lost.
func TestSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, questions := time.Now(), 0
		settling := kit.NewSettling(func(_ context.Context, ids []string) (map[string]string, error) {
			if questions++; questions == 2 {
				return nil, fault.New(fault.Unavailable, "no answer")
			}
			out := map[string]string{}
			for _, id := range ids {
				out[id] = "busy"
				if time.Since(began) >= 8*time.Second {
					out[id] = "ready"
				}
			}
			return out, nil
		}, func(state string) bool { return state == "busy" })
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if state, err := settling.Wait(t.Context(), string(rune('A'+i))); err != nil || state != "ready" {
					t.Errorf("%q, %v", state, err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 13*time.Second || questions > 20 {
			t.Errorf("%d questions in %v", questions, took)
		}
	})
}

// TestSettlingInPart: a poll that fails for one resource reports the others, and the one is polled again.
func TestSettlingInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := 3
		settling := kit.NewSettling(func(_ context.Context, ids []string) (map[string]string, error) {
			out := map[string]string{}
			for _, id := range ids {
				if id == "b" && failures > 0 {
					failures--
					continue
				}
				out[id] = "ready"
			}
			if len(out) < len(ids) {
				return out, errors.New("refused")
			}
			return out, nil
		}, func(state string) bool { return state == "busy" }).Usually(4 * time.Second)
		var wg sync.WaitGroup
		for id, most := range map[string]time.Duration{"a": time.Second, "b": 10 * time.Second} {
			wg.Go(func() {
				began := time.Now()
				state, err := settling.Wait(t.Context(), id)
				if took := time.Since(began); err != nil || state != "ready" || took > most {
					t.Errorf("%s: %q, %v after %v, want at most %v", id, state, err, took, most)
				}
			})
		}
		wg.Wait()
		if failures > 0 {
			t.Errorf("%d failures are left", failures)
		}
	})
}

// TestSettlingOneByOne: if a poll reads one resource only, changes that begin one after the
// other are polled once each, as soon as the duration of changes is known.
func TestSettlingOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began, asked := map[string]time.Time{}, 0
		settling := kit.NewSettling(func(_ context.Context, ids []string) (map[string]string, error) {
			mu.Lock()
			defer mu.Unlock()
			out := map[string]string{}
			for _, id := range ids {
				asked++
				out[id] = "busy"
				if time.Since(began[id]) >= 10*time.Second {
					out[id] = "ready"
				}
			}
			return out, nil
		}, func(state string) bool { return state == "busy" }).OneByOne()
		wait := func(id string) {
			mu.Lock()
			began[id] = time.Now()
			mu.Unlock()
			if _, err := settling.Wait(t.Context(), id); err != nil {
				t.Error(err)
			}
			if took := time.Since(began[id]); took > 15*time.Second {
				t.Errorf("%s: noticed after %v", id, took)
			}
		}
		wait("the first one")
		wait("the second one")
		asked = 0
		var wg sync.WaitGroup
		for i := range 20 {
			time.Sleep(100 * time.Millisecond)
			wg.Go(func() { wait(string(rune('A' + i))) })
		}
		wg.Wait()
		if asked > 25 {
			t.Errorf("20 things that came one after the other were asked for %d times", asked)
		}
	})
}

// TestSettlingStops: a caller that stops waiting gets the reason, and the resource is not
// polled any further.
func TestSettlingStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		settling := kit.NewSettling(func(_ context.Context, ids []string) (map[string]string, error) {
			if asked++; asked > 100 {
				return map[string]string{"a": "ready"}, nil // so that a failing test ends
			}
			return map[string]string{"a": "busy"}, nil
		}, func(state string) bool { return state == "busy" })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := settling.Wait(ctx, "a"); err == nil {
			t.Error("it waited")
		}
		before := asked
		time.Sleep(time.Hour)
		if asked > before+1 {
			t.Errorf("polled %d times after the caller had left", asked-before)
		}
	})
}

// TestSettlingAnswersLateCallers: a caller that arrives during a poll is not served by its
// answer, which may be older than the caller's change.
func TestSettlingAnswersLateCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busyUntil atomic.Pointer[time.Time]
		busyUntil.Store(new(time.Time))
		settling := kit.NewSettling(func(_ context.Context, ids []string) (map[string]string, error) {
			state := "ready"
			if time.Now().Before(*busyUntil.Load()) {
				state = "busy"
			}
			time.Sleep(time.Second)
			return map[string]string{"a": state}, nil
		}, func(state string) bool { return state == "busy" })
		var wg sync.WaitGroup
		wait := func() {
			if _, err := settling.Wait(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}
		wg.Go(wait)
		time.Sleep(700 * time.Millisecond) // the first question has been asked
		end := time.Now().Add(8 * time.Second)
		busyUntil.Store(&end)
		wait()
		if early := time.Until(end); early > 0 {
			t.Errorf("settled %v before the change had ended", early)
		}
		wg.Wait()
	})
}

// TestLocks: one caller holds the lock of a name, names are independent, and a caller that
// stops waiting holds nothing.
func TestLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, inside := kit.NewLocks(), 0
		var wg sync.WaitGroup
		began := time.Now()
		for range 5 {
			wg.Go(func() {
				unlock, err := locks.Take(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				defer unlock()
				if inside++; inside > 1 {
					t.Error("two hold it")
				}
				time.Sleep(time.Second)
				inside--
			})
		}
		synctest.Wait()
		unlock, err := locks.Take(t.Context(), "b")
		if err != nil || time.Since(began) > 0 {
			t.Errorf("another name waited: %v", err)
		}
		unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := locks.Take(ctx, "a"); err == nil {
			t.Error("it was given although it was held")
		}
		wg.Wait()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %v; want 5s, one after the other", took)
		}
	})
}
