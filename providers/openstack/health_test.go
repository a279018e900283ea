package openstack_test

import (
	"net"
	"testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestHealth verifies that members are reported with the operating status of Octavia, by
// pool.
func TestHealth(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		svc := props.Service("web", nil).Service
		w.serve(svc)
		d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc, Look: true})
		if err != nil {
			t.Fatal(err)
		}
		health, err := w.process.Health(t.Context(), d)
		if err != nil || len(health) == 0 {
			t.Fatalf("got %v, %v", health, err)
		}
		for _, h := range health {
			if _, _, err := net.SplitHostPort(h.Member); err != nil || h.State != "NO_MONITOR" || !h.Healthy || h.Of.Kind != "pool" {
				t.Errorf("got %+v, want a member without a monitor, which is sent to", h)
			}
		}
	})
}
