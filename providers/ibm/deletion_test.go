package ibm_test

import (
	"context"
	"testing"
	"time"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestDeletionIsAwaited: a process that starts while a load balancer is being deleted releases the
// Service when the load balancer does not exist any more, and deletes nothing again.
func TestDeletionIsAwaited(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Busy: time.Minute, Seed: simibm.SeedOptions{Nodes: 3}})
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second) // for the creation, and a part of the deletion
		defer cancel()
		if res, _ := props.Work(ctx, w.Process, reconcile.Job{Service: svc, Release: true}); res.Released {
			t.Fatal("released before the deletion has ended")
		}
		w.Restart()
		w.Control().Journal.Reset()
		for range 5 {
			res, err := w.Once(svc, true)
			if err != nil {
				t.Fatal(err)
			}
			if left := w.Objects("load_balancers"); res.Released {
				if len(left) > 0 {
					t.Errorf("released while %d load balancers exist", len(left))
				}
				if n := w.Control().Journal.Writes(); n != 0 {
					t.Errorf("%d writes", n)
				}
				return
			}
		}
		t.Error("not released")
	})
}
