package ibm_test

import (
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
		time.Sleep(2 * time.Minute) // it is not busy any more
		before, ended := w.Process, make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = props.Work(t.Context(), before, reconcile.Job{Service: svc, Release: true})
		}()
		defer func() { <-ended }()
		time.Sleep(30 * time.Second)
		if all := w.Objects("load_balancers"); len(all) != 1 || all[0].Text("provisioning_status") != "delete_pending" {
			t.Fatalf("the deletion has not begun, or has ended: %v", all)
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
