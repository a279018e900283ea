package gce_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"
	clocktesting "k8s.io/utils/clock/testing"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func TestInstanceGroups(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 5}})
	w.group(zoneA, "ig")
	add := func(zone string, nodes ...string) string {
		return w.done(w.api.InstanceGroups.AddInstances(project, zoneA, "ig", &compute.InstanceGroupsAddInstancesRequest{Instances: instanceRefs(zone, nodes...)}).Do())
	}
	remove := func(nodes ...string) string {
		return w.done(w.api.InstanceGroups.RemoveInstances(project, zoneA, "ig", &compute.InstanceGroupsRemoveInstancesRequest{Instances: instanceRefs(zoneA, nodes...)}).Do())
	}
	empty, err := w.api.InstanceGroups.Get(project, zoneA, "ig").Do()
	if err != nil || empty.Network != "" || empty.Size != 0 {
		t.Errorf("empty group %+v, %v, want it without a network", empty, err)
	}
	got := []string{
		add(zoneB, "berth-demo-node-2"), add(zoneA, "ghost"), add(zoneA, "berth-demo-node-1", "berth-demo-node-5"), add(zoneA, "berth-demo-node-1"),
		remove("berth-demo-node-5"), remove("berth-demo-node-5"),
	}
	want := []string{"400 invalid", "404 notFound", "", "400 memberAlreadyExists", "", "404 notFound"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	list, err := w.api.InstanceGroups.ListInstances(project, zoneA, "ig", &compute.InstanceGroupsListInstancesRequest{InstanceState: "ALL"}).Do()
	if err != nil || len(list.Items) != 1 || list.Items[0].Instance != base+"zones/us-central1-a/instances/berth-demo-node-1" {
		t.Errorf("instances %+v, %v, want the first", list, err)
	}
	w.must(w.api.Instances.Delete(project, zoneA, "berth-demo-node-1").Do())
	group, err := w.api.InstanceGroups.Get(project, zoneA, "ig").Do()
	if err != nil || group.Size != 0 || group.Network != w.cloud.Seed.Network {
		t.Errorf("group %+v, %v, want it empty after its instance was deleted, with its network", group, err)
	}
}

func TestEndpointGroups(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	opt := simgce.Options{Seed: simgce.SeedOptions{Nodes: 5}, Clock: clock}
	opt.Compute.DrainingDelay = time.Minute
	w := startWorld(t, opt)
	neg := w.neg(zoneA, "neg")
	attach := func(instance, ip string) string {
		return w.done(w.api.NetworkEndpointGroups.AttachNetworkEndpoints(project, zoneA, "neg", &compute.NetworkEndpointGroupsAttachEndpointsRequest{
			NetworkEndpoints: []*compute.NetworkEndpoint{{Instance: instance, IpAddress: ip}},
		}).Do())
	}
	detach := func(instance string) string {
		return w.done(w.api.NetworkEndpointGroups.DetachNetworkEndpoints(project, zoneA, "neg", &compute.NetworkEndpointGroupsDetachEndpointsRequest{
			NetworkEndpoints: []*compute.NetworkEndpoint{{Instance: instance}},
		}).Do())
	}
	list := func() []string {
		out, err := w.api.NetworkEndpointGroups.ListNetworkEndpoints(project, zoneA, "neg", &compute.NetworkEndpointGroupsListEndpointsRequest{HealthStatus: "SHOW"}).Do()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, item := range out.Items {
			name := item.NetworkEndpoint.Instance + " " + item.NetworkEndpoint.IpAddress
			for _, h := range item.Healths {
				name += " " + h.HealthState
			}
			names = append(names, name)
		}
		return names
	}
	got := []string{
		attach("ghost", ""), attach("berth-demo-node-2", ""), attach("berth-demo-node-1", "10.128.0.99"),
		attach("berth-demo-node-1", "10.128.0.10"), attach(base+"zones/us-central1-a/instances/berth-demo-node-5", ""), attach("berth-demo-node-5", ""), detach("ghost"),
	}
	if diff := cmp.Diff([]string{"404 notFound", "404 notFound", "400 invalid", "", "", "", "400 invalid"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	w.check("hc")
	if got := w.service("s", "EXTERNAL", func(s *compute.BackendService) {
		s.Backends, s.ConnectionDraining = []*compute.Backend{{Group: neg}}, &compute.ConnectionDraining{DrainingTimeoutSec: 30}
	}); got != "" {
		t.Fatal(got)
	}
	w.must(w.api.Instances.Stop(project, zoneA, "berth-demo-node-1").Do())
	if got := detach("berth-demo-node-5"); got != "" {
		t.Fatal(got)
	}
	if diff := cmp.Diff([]string{"berth-demo-node-1 10.128.0.10 UNHEALTHY", "berth-demo-node-5 10.128.0.14 DRAINING"}, list()); diff != "" {
		t.Errorf("endpoints (-want +got)\n%s", diff)
	}
	clock.SetTime(clock.Now().Add(2 * time.Minute))
	if diff := cmp.Diff([]string{"berth-demo-node-1 10.128.0.10 UNHEALTHY"}, list()); diff != "" {
		t.Errorf("endpoints after draining (-want +got)\n%s", diff)
	}
	if got := w.done(w.api.NetworkEndpointGroups.Delete(project, zoneA, "neg").Do()); got != "400 resourceInUseByAnotherResource" {
		t.Errorf("group in use: %q", got)
	}
}
