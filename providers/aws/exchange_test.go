package aws_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// forwards returns the packets of clients of both sides of an exchange.
func (w *groupWorld) forwards() []simaws.Passage {
	return w.s.running.Cloud.Forwards(netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("172.16.0.1"))
}

// TestExchangeIsUndone: ports of a Network Load Balancer without security groups get other numbers,
// keep their node ports, and exchange their clients. After AWS has refused one of the calls, the old
// clients are served at the old ports. Afterwards the change is made.
func TestExchangeIsUndone(t *testing.T) {
	setCredentials(t)
	for _, operation := range []string{"CreateListener", "DeleteListener"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(w *groupWorld) {
				svc := serviceCase("web", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service
				svc.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
				w.good(svc)
				before := w.forwards()
				if len(before) == 0 {
					w.Fatal("nothing is served")
				}
				svc.Spec.LoadBalancerSourceRanges = []string{"172.16.0.0/12"}
				for i := range svc.Spec.Ports {
					svc.Spec.Ports[i].Port += 1000
				}
				if _, err := w.s.Control().Faults.Add(sim.Fault{Operation: operation, Count: 1, Kind: sim.FaultError, Status: 403, Code: "AccessDenied"}); err != nil {
					w.Fatal(err)
				}
				for range 3 {
					if res := w.run(svc, false); res.Err == nil && len(res.Draft.Plan.Blocked) == 0 {
						w.Fatal("nothing is refused")
					}
					if diff := cmp.Diff(before, w.forwards(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
						w.Fatalf("packets while %s is refused (-before +after):\n%s", operation, diff)
					}
				}
				w.s.Control().Faults.Clear()
				w.restart()
				w.good(svc)
				after := w.forwards()
				if isOld := func(p simaws.Passage) bool { return p.Port < 1000 }; len(after) == 0 || slices.ContainsFunc(after, isOld) {
					w.Errorf("once nothing is refused: %v", after)
				}
			})
		})
	}
}
