package kit_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// makeCalls makes a number of calls by several workers, and returns how long that took in seconds.
func makeCalls(t *testing.T, l *kit.Limits, s *server, calls, workers int) float64 {
	t.Helper()
	began := time.Now()
	work := make(chan struct{}, calls)
	for range calls {
		work <- struct{}{}
	}
	close(work)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range work {
				if err := l.Do(t.Context(), s.call, "reads"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return time.Since(began).Seconds()
}

// TestUnknownRate: without a documented rate, the first refusals find one near the best, whatever
// the cloud accepts. A thousand calls take little longer than it allows.
func TestUnknownRate(t *testing.T) {
	for _, rate := range []float64{3, 10, 20, 60, 200} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls, workers = 1000, 100
				s := &server{rate: rate, burst: 2 * rate, took: 20 * time.Millisecond}
				took, ideal := makeCalls(t, newLimits(1, kit.Bucket{Name: "reads"}), s, calls, workers), (calls-2*rate)/rate
				if took > 1.1*ideal+2 || float64(s.refused) > 1.5*workers {
					t.Errorf("took %.1f s, at best %.1f s; %d refused of %d", took, ideal, s.refused, s.calls)
				}
			})
		})
	}
}

// TestSlowStart: a bucket that starts slowly finds an unknown rate with few refused calls, most of them its first twenty, whatever
// the cloud accepts at once, and keeps it after a minute without calls.
func TestSlowStart(t *testing.T) {
	for _, rate := range []float64{3, 10, 20, 60} {
		for seconds, slower := range map[float64]float64{0.2: 1.8, 2: 1.1, 10: 1.1} {
			t.Run(fmt.Sprintf("%v of %v seconds at once", rate, seconds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &server{rate: rate, burst: max(1, seconds*rate), took: 20 * time.Millisecond}
					l := newLimits(1, kit.Bucket{Name: "reads", Start: 20})
					for _, calls := range []int{165, 500} {
						s.calls, s.refused = 0, 0
						took, ideal := makeCalls(t, l, s, calls, 100), max(0, float64(calls)-s.burst)/rate
						if took > slower*ideal+3 || float64(s.refused) > 0.03*float64(s.calls)+20 {
							t.Errorf("%d calls took %.1f s, at best %.1f s; %d refused of %d", calls, took, ideal, s.refused, s.calls)
						}
						time.Sleep(time.Minute)
					}
				})
			})
		}
	}
}

// TestTrickle: calls that come slowly say nothing about the rate: a crowd after them is as fast as
// one in a new process.
func TestTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{rate: 20, burst: 40, took: 20 * time.Millisecond}
		l := newLimits(1, kit.Bucket{Name: "reads", Start: 20})
		for range 100 {
			makeCalls(t, l, s, 1, 1)
			time.Sleep(time.Second)
		}
		if took, ideal := makeCalls(t, l, s, 300, 100), (300-s.burst)/20; took > 1.2*ideal+1 || s.refused > 12 {
			t.Errorf("took %.1f s, at best %.1f s; %d refused", took, ideal, s.refused)
		}
	})
}

// TestStartsAgain: a cloud that accepted everything and has a rate later refuses few calls.
func TestStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{rate: 10000, burst: 10000, took: 30 * time.Millisecond}
		l := newLimits(1, kit.Bucket{Name: "reads", Start: 20})
		makeCalls(t, l, s, 600, 400)
		s.rate, s.burst = 20, 40
		time.Sleep(time.Minute)
		if took, ideal := makeCalls(t, l, s, 400, 400), (400-s.burst)/20; took > 1.1*ideal+1 || s.refused > 12 {
			t.Errorf("took %.1f s, at best %.1f s; %d refused", took, ideal, s.refused)
		}
	})
}

// TestUnlimitedStart: without limits nothing starts slowly, neither at first nor after a pause.
func TestUnlimitedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{rate: 10000, burst: 10000, took: 10 * time.Millisecond}
		l := newLimits(kit.Unlimited(), kit.Bucket{Name: "reads", Start: 20})
		for range 2 {
			if took := makeCalls(t, l, s, 500, 500); took > 0.1 {
				t.Errorf("took %.1f s", took)
			}
			time.Sleep(time.Minute)
		}
	})
}
