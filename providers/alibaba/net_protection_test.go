package alibaba_test

import (
	"fmt"
	"testing"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestNetProtectionLags: a load balancer whose protection was just switched off may refuse its deletion for a while,
// which is no failure.
func TestNetProtectionLags(t *testing.T) {
	for _, refusals := range []int{1, 3} {
		virtual.Run(t, fmt.Sprint(refusals), func(t *testing.T) {
			w := onNet().Begin(t, withSlowJobs(withNodes(2)))
			svc := netCase("web", nil).Service
			w.Serve(svc)
			if _, err := w.Control().Faults.Add(sim.Fault{Operation: "DeleteLoadBalancer", Kind: sim.FaultError, Status: 400, Code: "OperationDenied.DeletionProtectionEnabled", Count: refusals}); err != nil {
				t.Fatal(err)
			}
			if res, err := w.Once(svc, true); err != nil || res.Err != nil {
				t.Errorf("%v, %v", err, res.Err)
			}
			w.Release(svc)
			if n := len(w.Sim.Cloud.Nets()) + len(w.Sim.Cloud.ServerGroups()); n != 0 {
				t.Errorf("%d resources are left", n)
			}
		})
	}
}
