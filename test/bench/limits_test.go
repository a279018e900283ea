package main

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/test/sim"
)

// TestIdealOfShare: the share counts for the rate and for the burst, so it shows most where there
// are little more calls than a burst has. Where no user waits, some of the burst is kept for one.
func TestIdealOfShare(t *testing.T) {
	rates := []sim.Bucket{{Name: "register", Service: "elbv2", Capacity: 20, Refill: 4}}
	for _, c := range []struct {
		calls       int
		phase       string
		full, share time.Duration
	}{
		{15, rolled, 0, 0},
		{18, "create", 0, 0},
		{18, rolled, 0, 833 * time.Millisecond},
		{40, "create", 5 * time.Second, 6111 * time.Millisecond},
		{40, rolled, 5 * time.Second, 6944 * time.Millisecond},
		{200, "create", 45 * time.Second, 50556 * time.Millisecond},
		{200, rolled, 45 * time.Second, 51389 * time.Millisecond},
	} {
		var m measured
		for range c.calls {
			m.calls = append(m.calls, sim.Entry{Service: "elbv2", Operation: "RegisterTargets"})
		}
		if full, share := idealTime(rates, m), idealTime(atShare(rates, c.phase), m).Round(time.Millisecond); full != c.full || share != c.share {
			t.Errorf("%s of %d calls takes %v, and %v at the share; want %v and %v", c.phase, c.calls, full, share, c.full, c.share)
		}
	}
	if rates[0].Capacity != 20 {
		t.Error("the documented rates have changed")
	}
}

// TestIdealOfJobs: the shortest time has the jobs before and after the calls of the slowest operation.
func TestIdealOfJobs(t *testing.T) {
	rates := []sim.Bucket{{Name: "operation", Service: "nlb", Per: sim.PerOperation, Capacity: 15, Refill: 15}}
	began := time.Now()
	m := measured{}
	at := func(seconds float64, operation string, write bool, n int) {
		for range n {
			m.calls = append(m.calls, sim.Entry{Service: "nlb", Operation: operation, Write: write, Time: began.Add(time.Duration(seconds * float64(time.Second)))})
		}
	}
	at(0, "List", false, 30)
	at(0.1, "Create", true, 100)
	at(3.3, "Jobs", false, 10)
	at(3.4, "Listen", true, 165)
	at(7, "Start", true, 100)
	at(10.3, "Jobs", false, 10)
	for job, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 3 * time.Second: 19 * time.Second} {
		m.job = job
		if got := idealTime(rates, m).Round(100 * time.Millisecond); got != want {
			t.Errorf("with jobs of %v: %v, want %v", job, got, want)
		}
	}
}
