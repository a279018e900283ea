package gce_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	raw "google.golang.org/api/compute/v1"
	"google.golang.org/api/option"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// user calls the API as a person does.
func (n near) user(t *testing.T) *raw.Service {
	t.Helper()
	api, err := raw.NewService(t.Context(), option.WithHTTPClient(&http.Client{Transport: n}), option.WithEndpoint("http://compute.test/compute/v1/"))
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// groupMembers returns the machines in all groups, and in all endpoint groups, of a
// zone; "" if there is none of either.
func groupMembers(t *testing.T, api *raw.Service, project, zone string) []string {
	t.Helper()
	var out []string
	groups, err := api.InstanceGroups.List(project, zone).Do()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Items {
		list, err := api.InstanceGroups.ListInstances(project, zone, g.Name, &raw.InstanceGroupsListInstancesRequest{}).Do()
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range list.Items {
			out = append(out, g.Name+" "+i.Instance[strings.LastIndexByte(i.Instance, '/')+1:])
		}
	}
	negs, err := api.NetworkEndpointGroups.List(project, zone).Do()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range negs.Items {
		list, err := api.NetworkEndpointGroups.ListNetworkEndpoints(project, zone, g.Name, &raw.NetworkEndpointGroupsListEndpointsRequest{}).Do()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Items {
			out = append(out, g.Name+" "+e.NetworkEndpoint.Instance)
		}
	}
	slices.Sort(out)
	return out
}

// TestMachineComesBack: a machine that is deleted and recreated under its name is a
// member again after the next reconcile of the Service, also where its Node was never
// deleted. The groups it was in are listed once for each time it is recreated.
func TestMachineComesBack(t *testing.T) {
	for _, class := range []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"} {
		for _, how := range []string{"restarted", "registered again"} {
			t.Run(class+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := slowCloud(t, 0)
					services := []*corev1.Service{numberedService(1, class), numberedService(2, class)}
					r, api := n.process(t), n.user(t)
					for _, svc := range services {
						reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
					}
					nodes := n.cloud.Seed.KubernetesNodes()
					for i := range nodes {
						nodes[i].UID, nodes[i].Status.NodeInfo.BootID = "first", "first"
					}
					r.SetNodes(props.Project(nodes))
					for _, svc := range services {
						reconcileFully(t, r, svc, reconcile.Job{})
					}
					machine := n.cloud.Seed.Nodes[0]
					before := groupMembers(t, api, "berth-demo", machine.Zone)
					for round := range 2 {
						recreateMachine(t, n.cloud, api, "berth-demo", machine.Zone, machine.Name)
						nodes[0].Status.NodeInfo.BootID += " again"
						if how == "registered again" {
							nodes[0].UID += " again"
						}
						r.SetNodes(props.Project(nodes))
						n.cloud.Journal.Reset()
						for _, svc := range services {
							reconcileFully(t, r, svc, reconcile.Job{})
						}
						lists := n.cloud.Journal.Counts()["instanceGroups.listInstances"]
						if most := len(n.cloud.Seed.Nodes); lists > most {
							t.Errorf("round %d: %d lists of groups", round, lists)
						}
						if after := groupMembers(t, api, "berth-demo", machine.Zone); !slices.Equal(before, after) {
							t.Errorf("round %d: members were %v and are %v", round, before, after)
						}
					}
					time.Sleep(time.Minute) // what gathers calls ends
				})
			})
		}
	}
}

// recreateMachine deletes a machine, and creates another one with its name and address.
func recreateMachine(t *testing.T, cloud *simgce.Cloud, api *raw.Service, project, zone, name string) {
	t.Helper()
	vm, err := api.Instances.Get(project, zone, name).Do()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Instances.Delete(project, zone, name).Do(); err != nil {
		t.Fatal(err)
	}
	vm.Id = 0
	body, err := vm.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var doc wire.Object
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Compute.Load("projects/"+project+"/zones/"+zone+"/instances/"+name, doc, time.Now()); err != nil {
		t.Fatal(err)
	}
}
