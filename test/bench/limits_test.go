package main

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/test/sim"
)

// TestIdealOfShare: the share counts for the rate and for the burst, so it shows most where there
// are little more calls than a burst has.
func TestIdealOfShare(t *testing.T) {
	rates := []sim.Bucket{{Name: "register", Service: "elbv2", Capacity: 20, Refill: 4}}
	for _, c := range []struct {
		calls       int
		full, share time.Duration
	}{
		{18, 0, 0},
		{40, 5 * time.Second, 6111 * time.Millisecond},
		{200, 45 * time.Second, 50556 * time.Millisecond},
	} {
		var m measured
		for range c.calls {
			m.calls = append(m.calls, sim.Entry{Service: "elbv2", Operation: "RegisterTargets"})
		}
		if full, share := ideal(rates, m), ideal(atShare(rates), m).Round(time.Millisecond); full != c.full || share != c.share {
			t.Errorf("%d calls take %v, and %v at the share; want %v and %v", c.calls, full, share, c.full, c.share)
		}
	}
	if rates[0].Capacity != 20 {
		t.Error("the documented rates have changed")
	}
}
