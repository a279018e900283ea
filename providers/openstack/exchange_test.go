package openstack_test

import (
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// forwards returns the packets of clients of both sides of an exchange.
func (w *world) forwards() []simopenstack.Passage {
	return w.running.Cloud.Forwards([]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("172.16.0.1")}, groupPrefix)
}

// TestExchangeIsUndone: with the driver ovn, ports get other numbers, keep their node ports, and
// exchange their clients. After OpenStack has refused one of the calls, the old clients are served at the
// old ports. Afterwards the change is made.
func TestExchangeIsUndone(t *testing.T) {
	for _, operation := range []string{"CreateListener", "DeleteListener"} {
		virtual.Run(t, operation, func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{}, ovnConfig)
			svc := props.Service("web", nil).Service
			svc.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
			w.serve(svc)
			before := w.forwards()
			if len(before) == 0 {
				t.Fatal("nothing is served")
			}
			svc.Spec.LoadBalancerSourceRanges = []string{"172.16.0.0/12"}
			for i := range svc.Spec.Ports {
				svc.Spec.Ports[i].Port += 1000
			}
			if _, err := w.Control().Faults.Add(sim.Fault{Operation: operation, Count: 1, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "PolicyForbidden"}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if res, err := w.once(svc, false); err != nil || res.Err == nil && len(res.Draft.Plan.Blocked) == 0 {
					t.Fatal("nothing is refused", err)
				}
				if diff := cmp.Diff(before, w.forwards(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
					t.Fatalf("packets while it is refused (-before +after):\n%s", diff)
				}
			}
			w.Control().Faults.Clear()
			w.restart(svc)
			w.serve(svc)
			after := w.forwards()
			if isOld := func(p simopenstack.Passage) bool { return p.Port < 1000 }; len(after) == 0 || slices.ContainsFunc(after, isOld) {
				t.Errorf("once nothing is refused: %v", after)
			}
		})
	}
}
