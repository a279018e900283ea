package kit_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// slow are things that are busy for so long after a change.
type slow struct {
	takes time.Duration

	mu        sync.Mutex
	changed   map[string]time.Time
	questions int
}

func (s *slow) change(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[id] = time.Now()
}

func (s *slow) ask(_ context.Context, ids []string) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions++
	out := map[string]string{}
	for _, id := range ids {
		if out[id] = "ready"; time.Since(s.changed[id]) < s.takes {
			out[id] = "busy"
		}
	}
	return out, nil
}

// TestSettlingLearns: of a hundred changes that begin one after the other, many share a
// poll once their duration is known; and no caller waits much longer than its own change
// takes.
func TestSettlingLearns(t *testing.T) {
	for name, c := range map[string]struct {
		takes, most time.Duration
		questions   int
	}{
		"quick ones": {300 * time.Millisecond, 900 * time.Millisecond, 60},
		"slow ones":  {8 * time.Second, 11 * time.Second, 60},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				things := &slow{takes: c.takes, changed: map[string]time.Time{}}
				settling := kit.NewSettling(things.ask, func(state string) bool { return state == "busy" })
				var wg sync.WaitGroup
				for i := range 100 {
					time.Sleep(100 * time.Millisecond)
					wg.Go(func() {
						id, began := string(rune('A'+i)), time.Now()
						things.change(id)
						if state, err := settling.Wait(t.Context(), id); err != nil || state != "ready" {
							t.Errorf("%q, %v", state, err)
						}
						if took := time.Since(began); took < c.takes || took > c.most {
							t.Errorf("%d: a change of %v is waited for %v", i, c.takes, took)
						}
					})
				}
				wg.Wait()
				if things.questions > c.questions {
					t.Errorf("%d questions", things.questions)
				}
				t.Logf("%d questions", things.questions)
			})
		})
	}
}

// TestSettlingForgets: when changes become quicker, the waiting callers return sooner.
func TestSettlingForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := &slow{takes: 8 * time.Second, changed: map[string]time.Time{}}
		settling := kit.NewSettling(things.ask, func(state string) bool { return state == "busy" })
		wait := func() time.Duration {
			began := time.Now()
			things.change("a")
			if _, err := settling.Wait(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		for range 20 {
			wait()
		}
		things.takes = 200 * time.Millisecond
		if took := wait(); took > 2*time.Second {
			t.Errorf("the first quick one is waited for %v", took)
		}
		for range 60 {
			wait()
		}
		if took := wait(); took > time.Second {
			t.Errorf("after many quick ones one is waited for %v", took)
		}
	})
}
