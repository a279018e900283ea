package kit_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// measured is the result of a load of changes.
type measured struct {
	perChange float64
	late      time.Duration // the largest
}

// settleAll makes changes one after the other on each of several load balancers that share a
// list, and measures the questions and the delays after the first two changes of each. The load balancers begin
// within a spread of each other, and changes differ by two percent.
func settleAll(t *testing.T, settling func(*slow) *kit.Settling, takes, spread time.Duration, balancers, changes int) measured {
	var out measured
	synctest.Test(t, func(t *testing.T) {
		things := &slow{takes: takes, changed: map[string]time.Time{}}
		waits, random := settling(things), rand.New(rand.NewPCG(1, 2))
		round := func(changes int) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range balancers {
				mu.Lock()
				begin := time.Duration(random.Int64N(int64(spread)))
				mu.Unlock()
				wg.Go(func() {
					time.Sleep(begin)
					for range changes {
						id := fmt.Sprint(i)
						mu.Lock()
						length := takes*98/100 + time.Duration(random.Int64N(int64(takes/25)))
						mu.Unlock()
						began := time.Now()
						things.mu.Lock()
						things.changed[id] = began.Add(length - takes)
						things.mu.Unlock()
						if _, err := waits.Wait(t.Context(), id); err != nil {
							t.Error(err)
						}
						mu.Lock()
						out.late = max(out.late, time.Since(began)-length)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
		}
		round(2)
		things.questions, out.late = 0, 0
		round(changes)
		out.perChange = float64(things.questions) / float64(balancers*changes)
	})
	return out
}

// TestSettlingDeclared: with a declared duration the number of questions does not depend on
// how long changes take, and the end of one is noticed in time.
func TestSettlingDeclared(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, 3 * time.Second, 30 * time.Second, 5 * time.Minute} {
		for balancers, most := range map[int]float64{1: 2, 10: 1, 50: 0.2} {
			got := settleAll(t, func(s *slow) *kit.Settling {
				return kit.NewSettling(s.ask, func(state string) bool { return state == "busy" }).Usually(takes)
			}, takes, takes/10, balancers, 20)
			t.Logf("%v, %d load balancers: %.2f questions a change, noticed up to %v late", takes, balancers, got.perChange, got.late)
			if got.perChange > most {
				t.Errorf("%v, %d load balancers: %.2f questions a change; want at most %.1f", takes, balancers, got.perChange, most)
			}
			if allowed := max(takes/20, 500*time.Millisecond); got.late > allowed {
				t.Errorf("%v, %d load balancers: noticed %v late; want at most %v", takes, balancers, got.late, allowed)
			}
		}
	}
}

// TestSettlingDeclaredSpread: load balancers that begin at any time within a change of each
// other need at most 34 questions for the time of a change, however many they are: a delay of a
// twentieth allows no fewer than 20.
func TestSettlingDeclaredSpread(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, 3 * time.Second, 30 * time.Second, 5 * time.Minute} {
		for balancers, most := range map[int]float64{10: 1.3, 50: 0.64, 200: 0.17} {
			got := settleAll(t, func(s *slow) *kit.Settling {
				return kit.NewSettling(s.ask, func(state string) bool { return state == "busy" }).Usually(takes)
			}, takes, takes, balancers, 20)
			t.Logf("%v, %d load balancers: %.2f questions a change, noticed up to %v late", takes, balancers, got.perChange, got.late)
			if got.perChange > most || got.late > max(takes/20, 500*time.Millisecond) {
				t.Errorf("%v, %d load balancers: %.2f questions a change, noticed %v late", takes, balancers, got.perChange, got.late)
			}
		}
	}
}

// TestSettlingDeclaredAlone: the same where each question is about one load balancer.
func TestSettlingDeclaredAlone(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, 3 * time.Second, 30 * time.Second, 5 * time.Minute} {
		got := settleAll(t, func(s *slow) *kit.Settling {
			return kit.NewSettling(s.ask, func(state string) bool { return state == "busy" }).OneByOne().Usually(takes)
		}, takes, takes/10, 1, 20)
		if got.perChange > 2 || got.late > max(takes/20, 500*time.Millisecond) {
			t.Errorf("%v: %.2f questions a change, noticed %v late", takes, got.perChange, got.late)
		}
	}
}

// TestSettlingOneByOneTogether: a hundred changes at once are one measurement, so that the next hundred are not
// asked for too early. A wait that begins late measures from the beginning of its change.
func TestSettlingOneByOneTogether(t *testing.T) {
	const takes, balancers, rounds = 3 * time.Second, 100, 6
	synctest.Test(t, func(t *testing.T) {
		things := &slow{takes: takes, changed: map[string]time.Time{}}
		questions := 0
		settling := kit.NewSettling(func(ctx context.Context, ids []string) (map[string]string, error) {
			questions += len(ids)
			return things.ask(ctx, ids)
		}, func(state string) bool { return state == "busy" }).OneByOne().Usually(takes)
		for round := range rounds {
			var wg sync.WaitGroup
			for i := range balancers {
				wg.Go(func() {
					id := fmt.Sprint(i)
					began := time.Now().Add(time.Duration(i) * time.Millisecond)
					time.Sleep(time.Until(began))
					things.change(id)
					time.Sleep(time.Duration(round%2) * takes / 2) // other work
					if _, err := settling.WaitFrom(t.Context(), id, began); err != nil {
						t.Error(err)
					}
					if late := time.Since(began) - takes; late > 500*time.Millisecond {
						t.Errorf("noticed %s late", late)
					}
				})
			}
			wg.Wait()
		}
		if each := float64(questions) / balancers / rounds; each > 1.3 {
			t.Errorf("%.2f questions a change", each)
		}
	})
}

// TestSettlingOutlasts: a change that takes far longer than declared is asked for with
// growing pauses until it ends, and changes that are quicker than declared are learned.
func TestSettlingOutlasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := &slow{takes: 5 * time.Hour, changed: map[string]time.Time{}}
		settling := kit.NewSettling(things.ask, func(state string) bool { return state == "busy" }).Usually(30 * time.Second)
		wait := func() time.Duration {
			began := time.Now()
			things.change("a")
			if state, err := settling.Wait(t.Context(), "a"); err != nil || state != "ready" {
				t.Fatalf("%q, %v", state, err)
			}
			return time.Since(began) - things.takes
		}
		if late := wait(); late > 10*time.Second {
			t.Errorf("noticed %v late", late)
		}
		// One every 7.5 seconds, the bound of the pause.
		if things.questions > 5*3600*10/75+20 {
			t.Errorf("%d questions in five hours", things.questions)
		}
		things.takes = time.Second
		for range 30 {
			wait()
		}
		if late := wait(); late > 500*time.Millisecond {
			t.Errorf("after 30 quick changes one is noticed %v late", late)
		}
	})
}

// TestSettlingQuicker: a cloud that is quicker than declared is noticed at its first change, and
// one that is as declared costs one question more.
func TestSettlingQuicker(t *testing.T) {
	for takes, most := range map[time.Duration]time.Duration{100 * time.Millisecond: 2 * time.Second, 30 * time.Second: 32 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			things := &slow{takes: takes, changed: map[string]time.Time{}}
			settling := kit.NewSettling(things.ask, func(state string) bool { return state == "busy" }).Usually(30 * time.Second)
			for n := range 3 {
				began := time.Now()
				things.change("a")
				if state, err := settling.Wait(t.Context(), "a"); err != nil || state != "ready" {
					t.Fatalf("%q, %v", state, err)
				}
				if took := time.Since(began); took > most {
					t.Errorf("%v: change %d is noticed after %v, want at most %v", takes, n, took, most)
				}
			}
			if things.questions > 3+2 {
				t.Errorf("%v: %d questions about three changes", takes, things.questions)
			}
		})
	}
}

// TestSettlingInPages: where one call asks for twenty resources, three hundred that begin one after the other need
// few more calls than pages. The end of one is noticed within a quarter of a change, and the pause after an early question.
func TestSettlingInPages(t *testing.T) {
	const takes, balancers, page = 3 * time.Second, 300, 20
	got := settleAll(t, func(s *slow) *kit.Settling {
		ask := func(ctx context.Context, ids []string) (map[string]string, error) {
			out := map[string]string{}
			for some := range slices.Chunk(ids, page) {
				found, err := s.ask(ctx, some)
				if err != nil {
					return nil, err
				}
				maps.Copy(out, found)
			}
			return out, nil
		}
		return kit.NewSettling(ask, func(state string) bool { return state == "busy" }).Usually(takes).InPages(page)
	}, takes, 20*time.Second, balancers, 1)
	t.Logf("%.2f questions a change, noticed up to %v late", got.perChange, got.late)
	if got.perChange > 0.1 || got.late > takes*2/5 {
		t.Errorf("%.2f questions a change, noticed up to %v late", got.perChange, got.late)
	}
}
