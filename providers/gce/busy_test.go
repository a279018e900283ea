package gce_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// TestWaitsDoNotHoldWritesUp: many Services on endpoint groups that are made at once take as
// long as their writing calls need under the rates of the project, although there are more
// waits for operations than writing calls of any group. Nothing is refused, and each
// operation is asked about once.
func TestWaitsDoNotHoldWritesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 60
		n := nearCloud(t, 6, 0)
		if err := n.cloud.Throttle.Set(simgce.RealThrottle()...); err != nil {
			t.Fatal(err)
		}
		r := n.process(t)
		var services []*corev1.Service
		for k := range many {
			services = append(services, numberedService(k, "l4-regional-internal"))
		}
		n.cloud.Journal.Reset()
		began := time.Now()
		var all sync.WaitGroup
		for _, svc := range services {
			all.Go(func() { reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true}) })
		}
		all.Wait()
		took := time.Since(began)
		time.Sleep(time.Minute) // what gathers calls ends
		counts := n.cloud.Journal.Counts()
		local := counts["compute.networkEndpointGroups.insert"] + counts["compute.regionBackendServices.insert"] + counts["compute.forwardingRules.insert"]
		// Nine tenths of 25 a second, and of a burst of 150, are used.
		needed := time.Duration(float64(local-135) / 22.5 * float64(time.Second))
		waits := counts["compute.zoneOperations.wait"] + counts["compute.regionOperations.wait"]
		asked := counts["compute.zoneOperations.get"] + counts["compute.regionOperations.get"]
		t.Logf("%v for %d writing calls, which need %v; %d waits, %d questions", took, local, needed, waits, asked)
		if took > needed*13/10+time.Second {
			t.Errorf("took %v, the writing calls need %v", took, needed)
		}
		if operations := local + counts["compute.networkEndpointGroups.attachNetworkEndpoints"]; waits+asked > operations {
			t.Errorf("%d waits and %d questions for %d operations", waits, asked, operations)
		}
		for _, e := range n.cloud.Journal.Entries() {
			if e.Throttled {
				t.Fatalf("%s was refused", e.Operation)
			}
		}
	})
}
