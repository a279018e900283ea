package gce_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/service/reconcile"
)

// TestRename: the last Service of a kind is deleted and another one is created
// meanwhile, at any moment of the deletion, as when a Service is renamed. Their shared
// resources exist for the new one in the end, and a process with empty caches finds
// nothing to do.
func TestRename(t *testing.T) {
	for _, class := range []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"} {
		for offset := time.Duration(0); offset < 12*time.Second; offset += 500 * time.Millisecond {
			t.Run(fmt.Sprint(class, " ", offset), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := slowCloud(t, 2*time.Second)
					r := n.process(t)
					before, after := numberedService(1, class), numberedService(2, class)
					reconcileFully(t, r, before, reconcile.Job{NeverProvisioned: true})
					var both sync.WaitGroup
					both.Go(func() { reconcileFully(t, r, before, reconcile.Job{Release: true}) })
					both.Go(func() {
						time.Sleep(offset)
						reconcileFully(t, r, after, reconcile.Job{NeverProvisioned: true})
					})
					both.Wait()
					d, err := n.process(t, after).Draft(t.Context(), reconcile.Job{Service: after})
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range d.Plan.Steps {
						t.Errorf("a new process would %s", s.ID)
					}
					time.Sleep(time.Minute) // what gathers calls ends
				})
			})
		}
	}
}
