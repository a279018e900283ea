package gce_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
)

// TestRestoredRule: a forwarding rule that is deleted for one of other ports, or of another
// scheme under its name, is created again when that one is refused.
func TestRestoredRule(t *testing.T) {
	internal := map[string]string{"networking.gke.io/load-balancer-type": "Internal"}
	for name, tc := range map[string]struct {
		first, then map[string]string
		port        int32
	}{"ports": {port: 8443}, "ports of an internal one": {internal, internal, 8443}, "scheme": {first: internal, port: 80}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := slowCloud(t, 0)
				api := n.user(t)
				svc := serviceCase("web", "", nil).Service
				svc.Spec.LoadBalancerClass, svc.Annotations = nil, tc.first
				r := n.process(t)
				reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
				before, err := api.ForwardingRules.List(demo, "us-central1").Do()
				if err != nil || len(before.Items) != 1 {
					t.Fatalf("forwarding rules: %v, %v", before, err)
				}
				refusal := sim.Fault{Kind: sim.FaultError, Operation: "forwardingRules.insert", Count: 1, Status: http.StatusForbidden, Code: "QUOTA_EXCEEDED"}
				if _, err := n.cloud.Faults.Add(refusal); err != nil {
					t.Fatal(err)
				}
				svc.Spec.Ports[0].Port, svc.Annotations = tc.port, tc.then
				if res := runRounds(t, r, svc); res.Clean {
					t.Error("the refusal is not reported")
				}
				after, err := api.ForwardingRules.List(demo, "us-central1").Do()
				if err != nil || len(after.Items) != 1 {
					t.Fatalf("forwarding rules: %v, %v", after, err)
				}
				was, is := before.Items[0], after.Items[0]
				if was.IPAddress != is.IPAddress || was.PortRange != is.PortRange || !slices.Equal(was.Ports, is.Ports) || was.LoadBalancingScheme != is.LoadBalancingScheme || was.Target != is.Target {
					t.Errorf("the rule was %v %v %v and is %v %v %v", was.IPAddress, was.PortRange, was.LoadBalancingScheme, is.IPAddress, is.PortRange, is.LoadBalancingScheme)
				}
				time.Sleep(time.Hour)
				reconcileFully(t, r, svc, reconcile.Job{})
				if last, err := api.ForwardingRules.List(demo, "us-central1").Do(); err != nil || len(last.Items) != 1 || last.Items[0].PortRange == was.PortRange && slices.Equal(last.Items[0].Ports, was.Ports) {
					t.Errorf("after the back-off: %v, %v", last.Items, err)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}
