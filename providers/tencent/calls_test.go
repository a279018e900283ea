package tencent_test

import (
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/sim"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestCalls measures the calls of Services while each write takes three seconds.
func TestCalls(t *testing.T) {
	opt := withNodes(4)
	opt.Task, opt.Limits = 3*time.Second, simtencent.Limits{LoadBalancers: 200, Deletions: 200}
	goals := account.Goals{"create": {8, 3}, "touch": {0, 0}, "port": {5.5, 2}, "delnode": {2.2, 1}, "addnode": {2.2, 1}, "delete": {5.5, 2}}
	quick := onTencent()
	start := quick.Start
	quick.Start = func(t testing.TB, opt simtencent.Options) simulated { // deletions are not paced
		s := start(t, opt)
		s.share = kit.Unlimited()
		return s
	}
	quick.Calls(t, opt, goals, nil)
}

// TestDeletionsArePaced: many deletions at once stay below what the cloud takes for a mistake.
func TestDeletionsArePaced(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		const many = 100
		var all []*corev1.Service
		for n := range many {
			all = append(all, account.Numbered(n, nil))
			w.Serve(all[n])
		}
		began := time.Now()
		var wg sync.WaitGroup
		for _, svc := range all {
			wg.Go(func() { w.Release(svc) })
		}
		wg.Wait()
		for _, e := range w.Control().Journal.Entries() {
			if e.Code != "" {
				t.Errorf("%s was refused: %s", e.Operation, e.Code)
			}
		}
		if took := time.Since(began); took < 15*time.Minute || took > 20*time.Minute {
			t.Errorf("%d deletions took %s, and 29 in five minutes are 15 minutes", many, took)
		}
	})
}

// TestLoad: at the documented rate of 15 calls of an action in a second, a hundred Services that are created at
// once take at most 1.3 times as long as the rate alone needs. Less than 2 % of the calls are refused.
func TestLoad(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		opt := withNodes(4)
		opt.Limits = simtencent.Limits{LoadBalancers: 200}
		w := beginWorld(t, opt)
		rate := sim.Bucket{Name: "action", Per: sim.PerOperation, Capacity: 15, Refill: 15}
		if err := w.Control().Throttle.Set(rate); err != nil {
			t.Fatal(err)
		}
		w.Serve(account.Numbered(100, nil))
		time.Sleep(time.Minute)
		w.Control().Journal.Reset()
		began := time.Now()
		var wg sync.WaitGroup
		for n := range 100 {
			wg.Go(func() { w.Serve(account.Numbered(n, nil)) })
		}
		wg.Wait()
		took, refused := time.Since(began), 0
		var calls []sim.Call
		for _, e := range w.Control().Journal.Entries() {
			calls = append(calls, e.Call())
			if e.Code != "" {
				refused++
			}
		}
		rate.Capacity, rate.Refill = rate.Capacity*kit.DefaultShare, rate.Refill*kit.DefaultShare
		ideal := sim.Ideal([]sim.Bucket{rate}, calls)
		t.Logf("100 Services in %s, the rate alone %s, %d calls, %d refused", took, ideal, len(calls), refused)
		if took > ideal*13/10 || refused*50 > len(calls) {
			t.Errorf("100 Services took %s, want at most 1.3 times %s; %d of %d calls were refused", took, ideal, refused, len(calls))
		}
	})
}
