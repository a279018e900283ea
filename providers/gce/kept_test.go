package gce_test

import (
	"testing"
	"testing/synctest"
	"time"

	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
)

// TestGroupThatOthersUse: the group of a zone whose last node has left stays as long as
// the load balancer of another owner uses it. It is deleted soon after that one has
// released it, without a change of the Service, and although the Service was reconciled
// meanwhile. While it is used, it is checked at growing intervals.
func TestGroupThatOthersUse(t *testing.T) {
	for name, letGo := range map[string]bool{"let go": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nearCloud(t, 4, 0)
				api, svc := n.user(t), numberedService(1, "l4-regional-internal-legacy")
				r := n.process(t)
				reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
				zone := n.cloud.Seed.Nodes[0].Zone
				useGroup(t, api, zone, groupIn(t, api, zone))

				r.SetNodes(props.Project(n.cloud.Seed.KubernetesNodes()[1:]))
				reconcileFully(t, r, svc, reconcile.Job{})
				if groupIn(t, api, zone) == "" {
					t.Fatal("the group of another owner's load balancer was deleted")
				}
				r.SetNodes(props.Project(n.cloud.Seed.KubernetesNodes()[2:])) // worked on from memory
				reconcileFully(t, r, svc, reconcile.Job{})
				wait := r.NextRead(reconcile.OwnerOf(svc))
				if wait > 2*time.Minute {
					t.Errorf("looks again after %v", wait)
				}
				if letGo {
					if _, err := api.RegionBackendServices.Delete(demo, "us-central1", "foreign").Do(); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(wait)
				reconcileFully(t, r, svc, reconcile.Job{})
				if left := groupIn(t, api, zone); (left == "") != letGo {
					t.Errorf("the group that is left is %q", left)
				}
				atLeast := 10 * time.Minute
				if !letGo {
					atLeast = 2 * wait
				}
				if next := r.NextRead(reconcile.OwnerOf(svc)); next < atLeast {
					t.Errorf("looks again after %v more", next)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
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
