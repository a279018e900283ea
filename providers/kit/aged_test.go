package kit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestKnownDoesNotWait: a caller that a cached value satisfies does not wait for another
// caller's fetch, and a waiting caller can stop.
func TestKnownDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := kit.NewKnown[string, int](time.Hour, time.Minute, nil)
		fetch := func(value int) func(context.Context, []string) (map[string]int, error) {
			return func(_ context.Context, ids []string) (map[string]int, error) {
				return map[string]int{ids[0]: value}, nil
			}
		}
		if _, _, err := known.Get(t.Context(), time.Now(), []string{"a"}, fetch(1)); err != nil {
			t.Fatal(err)
		}
		answer := make(chan struct{})
		go func() {
			_, _, _ = known.Get(t.Context(), time.Now(), []string{"b"}, func(context.Context, []string) (map[string]int, error) {
				<-answer
				return nil, nil
			})
		}()
		synctest.Wait()
		began := time.Now()
		if got, _, err := known.Get(t.Context(), time.Now(), []string{"a"}, fetch(2)); err != nil || got["a"] != 1 {
			t.Errorf("what is known: %v, %v", got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := known.Get(ctx, time.Now(), []string{"c"}, fetch(3)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits in vain: %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		close(answer)
		synctest.Wait()
	})
}

// TestForgottenMeanwhile: a fetch that was running when its value was dropped answers its
// callers, and is not used afterwards.
func TestForgottenMeanwhile(t *testing.T) {
	var aged kit.Aged[int]
	get := func(value int, meanwhile func()) int {
		got, err := aged.Get(t.Context(), time.Now(), time.Hour, func(context.Context) (int, error) {
			meanwhile()
			return value, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := get(1, aged.Forget); got != 1 {
		t.Errorf("who asked got %d", got)
	}
	if got := get(2, func() {}); got != 2 {
		t.Errorf("who asked later got %d", got)
	}
	if got, err := aged.Get(t.Context(), time.Now(), 0, func(context.Context) (int, error) { return 3, nil }); err != nil || got != 3 {
		t.Errorf("who believes nothing got %d, %v", got, err)
	}
	known := kit.NewKnown[string](time.Hour, time.Minute, func(state string) bool { return state == "stopped" })
	state, asked, now := "stopped", 0, time.Now()
	ask := func() string {
		got, _, err := known.Get(t.Context(), now, []string{"i"}, func(context.Context, []string) (map[string]string, error) {
			asked++
			return map[string]string{"i": state}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got["i"]
	}
	ask()
	now, state = now.Add(2*time.Minute), "running"
	if got := ask(); got != "running" || asked != 2 {
		t.Errorf("%s after %d questions: a state that passes is not believed for long", got, asked)
	}
	now = now.Add(2 * time.Minute)
	if ask(); asked != 2 {
		t.Errorf("%d questions: a state that stays is believed", asked)
	}
}

// TestPanicWhileFetching: a panic of a fetch leaves no caller waiting: the next one
// fetches.
func TestPanicWhileFetching(t *testing.T) {
	known := kit.NewKnown[string, int](time.Hour, time.Minute, nil)
	var aged kit.Aged[int]
	poisoned := func(get func()) {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not come through")
			}
		}()
		get()
	}
	poisoned(func() {
		_, _, _ = known.Get(t.Context(), time.Now(), []string{"a"}, func(context.Context, []string) (map[string]int, error) { panic("a defect") })
	})
	poisoned(func() {
		_, _ = aged.Get(t.Context(), time.Now(), time.Hour, func(context.Context) (int, error) { panic("a defect") })
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, _, err := known.Get(ctx, time.Now(), []string{"a"}, func(context.Context, []string) (map[string]int, error) {
		return map[string]int{"a": 1}, nil
	})
	if err != nil || got["a"] != 1 {
		t.Errorf("of a thing: %v, %v", got, err)
	}
	if value, err := aged.Get(ctx, time.Now(), time.Hour, func(context.Context) (int, error) { return 2, nil }); err != nil || value != 2 {
		t.Errorf("of a value: %d, %v", value, err)
	}
}

// TestOne: the absence of a value is cached, and a failure is not.
func TestOne(t *testing.T) {
	known := kit.NewKnown[string, int](time.Hour, time.Minute, nil)
	now, asked := time.Now(), 0
	for _, c := range []struct {
		answer error
		value  int
		exists bool
		asked  int
	}{
		{fault.New(fault.Unavailable, "no answer"), 0, false, 1},
		{fault.New(fault.NotFound, "none"), 0, false, 2},
		{nil, 0, false, 2}, // no caller asks
	} {
		value, exists, err := known.One(t.Context(), now, "a", func(context.Context, string) (int, error) {
			asked++
			return 7, c.answer
		})
		if value != c.value || exists != c.exists || asked != c.asked || (err != nil) != fault.Is(c.answer, fault.Unavailable) {
			t.Errorf("%v: %d, %t, %v after %d questions", c.answer, value, exists, err, asked)
		}
	}
	if value, exists, err := known.One(t.Context(), now, "b", func(context.Context, string) (int, error) { return 7, nil }); value != 7 || !exists || err != nil {
		t.Errorf("of one that is there: %d, %t, %v", value, exists, err)
	}
}
