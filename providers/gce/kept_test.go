package gce_test

import (
	"testing"
	"testing/synctest"
	"time"

	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
)

// TestGroupThatOthersUsed: the group of a zone whose last node has left stays as long as
// the load balancer of somebody else stands on it, and goes soon after that has let it go,
// without anybody touching the Service.
func TestGroupThatOthersUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nearCloud(t, 4, 0)
		api, svc := n.user(t), numbered(1, "l4-regional-internal-legacy")
		r := n.process(t)
		arrive(t, r, svc, reconcile.Job{NeverProvisioned: true})
		zone := n.cloud.Seed.Nodes[0].Zone
		group := groupIn(t, api, zone)
		uses(t, api, zone, group)

		r.SetNodes(props.Project(n.cloud.Seed.KubernetesNodes()[1:]))
		arrive(t, r, svc, reconcile.Job{})
		if groupIn(t, api, zone) == "" {
			t.Fatal("the group went from under the load balancer of somebody else")
		}
		wait := r.NextRead(reconcile.OwnerOf(svc))
		if wait > 2*time.Minute {
			t.Errorf("looks again after %v", wait)
		}
		if _, err := api.RegionBackendServices.Delete(demo, "us-central1", "user").Do(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait)
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		if res := r.Run(t.Context(), d, func(plan.Gate) time.Duration { return 0 }); res.Err != nil {
			t.Error(res.Err)
		}
		if left := groupIn(t, api, zone); left != "" {
			t.Errorf("%s is left", left)
		}
		time.Sleep(time.Minute) // what gathers calls ends
	})
}

// groupIn is the only instance group of a zone; "": there is none.
func groupIn(t *testing.T, api *raw.Service, zone string) string {
	t.Helper()
	list, err := api.InstanceGroups.List(demo, zone).Do()
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return ""
	}
	return list.Items[0].Name
}

// uses makes a backend service of somebody else on a group.
func uses(t *testing.T, api *raw.Service, zone, group string) {
	t.Helper()
	if _, err := api.HealthChecks.Insert(demo, &raw.HealthCheck{Name: "user", Type: "TCP", TcpHealthCheck: &raw.TCPHealthCheck{Port: 80}}).Do(); err != nil {
		t.Fatal(err)
	}
	if _, err := api.RegionBackendServices.Insert(demo, "us-central1", &raw.BackendService{
		Name: "user", Protocol: "TCP", LoadBalancingScheme: "INTERNAL", HealthChecks: []string{"projects/" + demo + "/global/healthChecks/user"},
		Backends: []*raw.Backend{{Group: "projects/" + demo + "/zones/" + zone + "/instanceGroups/" + group, BalancingMode: "CONNECTION"}},
	}).Do(); err != nil {
		t.Fatal(err)
	}
}
