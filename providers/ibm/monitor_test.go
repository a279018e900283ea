package ibm_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// runMonitor does what the official controller does every five minutes: it deletes each active
// load balancer with the prefix of its cluster that has the name of no Service without a class.
// Source: IBM-Cloud/cloud-provider-ibm:ibm/ibm_loadbalancer.go (filterLoadBalancersFromServiceList),
// pkg/vpcctl/vpc_provider.go (GatherLoadBalancers).
func runMonitor(w *world, services ...*corev1.Service) (deleted []string) {
	w.Helper()
	const begin = "kube-berthdemo-"
	known := map[string]bool{}
	for _, svc := range services {
		if svc.Spec.LoadBalancerClass == nil {
			known[begin+strings.ReplaceAll(string(svc.UID), "-", "")] = true
		}
	}
	for _, lb := range w.Objects("load_balancers") {
		name := lb.Text("name")
		if !strings.HasPrefix(name, begin) || known[name] || lb.Text("provisioning_status") != "active" {
			continue
		}
		deleted = append(deleted, name)
		req, err := http.NewRequestWithContext(w.Context(), http.MethodDelete, w.Sim.URL+"/v1/load_balancers/"+lb.Text("id")+"?version=2026-01-27&generation=2", nil)
		if err != nil {
			w.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil || answer.Body.Close() != nil || answer.StatusCode >= http.StatusBadRequest {
			w.Fatal(err, answer)
		}
	}
	return deleted
}

// TestBesideTheMonitor: the official controller deletes nothing of a Service of a class, whose
// names are Berth's own, and a Service moves between the two controllers.
func TestBesideTheMonitor(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 3}})
		theirs, ours := props.Service("web", nil).Service, props.Service("web", nil).Service
		class := "berth-lb.io/berth"
		ours.Name, ours.UID, ours.Spec.LoadBalancerClass = "ours", account.UID(7), &class
		w.Serve(theirs)
		w.Serve(ours)
		if deleted := runMonitor(w, theirs, ours); len(deleted) > 0 {
			t.Errorf("deleted %v", deleted)
		}
		if deleted := runMonitor(w, ours); len(deleted) != 1 {
			t.Errorf("without the Service: deleted %v; the monitor of this test finds nothing", deleted)
		}
		w.Release(ours)
		if left := w.Objects("load_balancers"); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
}

// TestReleaseBeforeTakeOver: a load balancer with a name of the Service's choice is deleted
// with its Service, also if no process has served it and noted its id.
func TestReleaseBeforeTakeOver(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 3}})
		svc := props.Service("web", withKeys("vpc-lb-name", "shop-web")).Service
		w.Serve(svc)
		w.Sim.notes = emptyNotes()
		w.Restart(svc)
		w.Release(svc)
		if left := w.Objects("load_balancers"); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
}
