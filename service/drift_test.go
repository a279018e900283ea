package service

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/status"
)

// TestCorrectionsThatDoNotLast: a difference that each check for drift finds again is reported as
// one that returns, and a new one after it is not.
func TestCorrectionsThatDoNotLast(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		type told struct{ Found, Returned int }
		during := func(d time.Duration) told {
			t.Helper()
			advanceTime(d)
			var out told
			for _, e := range recordedEvents(c.events) {
				switch {
				case strings.Contains(e, " "+string(status.EventDriftFound)+" "):
					out.Found++
				case strings.Contains(e, " "+string(status.EventDriftReturns)+" "):
					out.Returned++
				}
			}
			return out
		}
		edit := func(loses bool) {
			c.cloud.mu.Lock()
			defer c.cloud.mu.Unlock()
			c.cloud.loses, c.cloud.nodes["uid-web"] = loses, nil
		}
		during(0)
		edit(true)
		if got := during(40 * time.Minute); got != (told{Found: 1}) {
			t.Errorf("the first check: %+v", got)
		}
		if got := during(3 * time.Hour); got.Found != 0 || got.Returned < 3 {
			t.Errorf("the next checks: %+v", got)
		}
		edit(false)
		during(time.Hour)
		if got := during(3 * time.Hour); got != (told{}) {
			t.Errorf("after a correction that lasts: %+v", got)
		}
		edit(false)
		if got := during(2 * time.Hour); got != (told{Found: 1}) {
			t.Errorf("another edit: %+v", got)
		}
	})
}
