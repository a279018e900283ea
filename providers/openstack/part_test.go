package openstack_test

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestPartInError: Octavia leaves a part in ERROR and its load balancer ACTIVE when it fails to
// apply a change of the part. The next read finds that, and the part is written again. The
// load balancer and the other ports are not touched.
func TestPartInError(t *testing.T) {
	for operation, change := range map[string]func(*corev1.Service){
		"UpdateListener": func(svc *corev1.Service) { setLimit(svc, "100") },
		"UpdatePool":     func(svc *corev1.Service) { svc.Annotations[prefix+"lb-method"] = "SOURCE_IP" },
		"CreateListener": func(svc *corev1.Service) { svc.Spec.Ports[1].Port = 8443 },
	} {
		virtual.Run(t, operation, func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{}, "")
			svc := props.Service("web", nil).Service
			w.serve(svc)
			change(svc)
			if _, err := w.Control().Faults.Add(sim.Fault{Operation: operation, Count: 1, Kind: sim.FaultError, Status: http.StatusAccepted}); err != nil {
				t.Fatal(err)
			}
			w.Control().Journal.Reset()
			_, _ = w.once(svc, false)
			if broken := w.inError(); len(broken) != 1 {
				t.Fatalf("in ERROR: %v", broken)
			}
			w.restart()
			w.serve(svc)
			if broken := w.inError(); len(broken) > 0 {
				t.Errorf("still in ERROR: %v", broken)
			}
			calls := w.Control().Journal.Counts()
			for _, never := range []string{"FailoverLoadBalancer", "DeleteLoadBalancer", "CreateLoadBalancer"} {
				if calls["load-balancer."+never] > 0 {
					t.Errorf("the load balancer is touched: %v", calls)
				}
			}
			w.restart()
			w.Control().Journal.Reset()
			w.serve(svc)
			for _, e := range w.Control().Journal.Entries() {
				if e.Write {
					t.Errorf("%s is sent again", e.Operation)
				}
			}
		})
	}
}

// inError lists what is in ERROR of all load balancers and their parts.
func (w *world) inError() (out []any) {
	for _, table := range []string{"loadbalancers", "listeners", "pools", "members", "healthmonitors"} {
		for _, o := range w.tables()[table] {
			if o["provisioning_status"] == "ERROR" {
				out = append(out, o["id"])
			}
		}
	}
	return out
}
