package gce_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
)

// TestRefusedMove: while the rule of another scheme is refused under the name of the old one,
// what the old one needs stays, also after a restart.
func TestRefusedMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := slowCloud(t, 0)
		api := n.user(t)
		svc := serviceCase("web", "", nil).Service
		svc.Spec.LoadBalancerClass = nil
		r := n.process(t)
		reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
		fault := sim.Fault{Kind: sim.FaultError, Operation: "forwardingRules.insert", Status: http.StatusForbidden, Code: "QUOTA_EXCEEDED"}
		if _, err := n.cloud.Faults.Add(fault); err != nil {
			t.Fatal(err)
		}
		svc.Annotations = map[string]string{"networking.gke.io/load-balancer-type": "Internal"}
		for _, process := range []*reconcile.Reconciler{r, n.process(t)} {
			if res := runRounds(t, process, svc); res.Err == nil {
				t.Error("nothing was refused")
			}
			pools, err := api.TargetPools.List(demo, "us-central1").Do()
			if err != nil || len(pools.Items) != 1 || len(pools.Items[0].Instances) == 0 || len(pools.Items[0].HealthChecks) != 1 {
				t.Errorf("target pools: %v, %v", pools.Items, err)
			}
			if checks, err := api.HttpHealthChecks.List(demo).Do(); err != nil || len(checks.Items) != 1 {
				t.Errorf("HTTP health checks: %v, %v", checks.Items, err)
			}
		}
		n.cloud.Faults.Clear()
		reconcileFully(t, r, svc, reconcile.Job{})
		if pools, err := api.TargetPools.List(demo, "us-central1").Do(); err != nil || len(pools.Items) != 0 {
			t.Errorf("target pools that are left: %v, %v", pools.Items, err)
		}
		time.Sleep(time.Minute) // what gathers calls ends
	})
}
