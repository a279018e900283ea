package wire

import (
	"slices"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestGroupsOfOthers: with SkipIGsManagement all groups stand behind the load
// balancer that begin with the name of ours, and none is made, filled or deleted.
func TestGroupsOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		zones := map[string]bool{}
		for _, n := range r.Nodes {
			zones[n.Labels[corev1.LabelTopologyZone]] = true
		}
		var want []string
		for zone := range zones {
			for _, suffix := range []string{"", "-workers", "-x"} {
				name := "k8s-ig--0123456789abcdef" + suffix
				if suffix == "-x" {
					name = "other-group"
				} else {
					want = append(want, groupPath(zone, name))
				}
				err := writeAndWait(t.Context(), r.Session, r.Session.groupAPI.Insert, &computepb.InsertInstanceGroupRequest{
					Project: r.Config.Project, Zone: zone, InstanceGroupResource: &computepb.InstanceGroup{Name: &name},
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		slices.Sort(want)
		file := "alpha-features = SkipIGsManagement\n"
		r.open(file)
		svc := testService(1, igClass, nil)
		before := r.groupNames()
		have := r.arrive(svc)
		var got []string
		for _, spec := range stack.Each[model.Backend](have, model.KindBackend) {
			for _, ref := range spec.Groups {
				got = append(got, ref.ID)
			}
		}
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("behind it are %v, want %v", got, want)
		}
		r.leave(svc)
		if after := r.groupNames(); !slices.Equal(before, after) {
			t.Errorf("groups were %v and are %v", before, after)
		}
	})
}

// TestNewBesideForeign: a new Service finds an endpoint group of its name that another
// client has created. In its first run the request is held and reported, which is not an
// error, and the group stays as it is.
func TestNewBesideForeign(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svc := testService(1, negClass, nil)
		owner := stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)}
		name, zone := "", r.Nodes[0].Labels[corev1.LabelTopologyZone]
		for _, n := range model.OwnNames(r.Config, owner) {
			if n.Key.Kind == model.KindNEG && !n.Pattern {
				name = n.Name
			}
		}
		text := `{"cluster-uid":"another","namespace":"x","service-name":"y","port":"0"}`
		err := writeAndWait(t.Context(), r.Session, r.Session.negAPI.Insert, &computepb.InsertNetworkEndpointGroupRequest{
			Project: r.Config.Project, Zone: zone, NetworkEndpointGroupResource: &computepb.NetworkEndpointGroup{
				Name: &name, Description: &text, NetworkEndpointType: new(computepb.NetworkEndpointGroup_GCE_VM_IP.String()),
				Network: new(r.Session.urlOf(r.Config.Network)), Subnetwork: new(r.Session.urlOf(r.Config.Subnet)),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		loop := reconcile.New(providers.Bind(model.Cloud(), r.Config, "kubernetes", r.Session), reconcile.Options{})
		var nodes []nodeports.Node
		for _, n := range r.Nodes {
			nodes = append(nodes, nodeports.Project(&n, func(string) bool { return true }))
		}
		loop.SetNodes(nodes)
		loop.AllKnown()
		d, err := loop.Draft(t.Context(), reconcile.Job{Service: svc, NeverProvisioned: true})
		if err != nil {
			t.Fatal(err)
		}
		res := loop.Run(t.Context(), d, nil)
		held := slices.ContainsFunc(res.Draft.Plan.Blocked, func(h plan.Blocked) bool { return h.By == "proof" && h.Step.ID.Key.Kind == model.KindNEG })
		if res.Err != nil || res.Clean || !held {
			t.Errorf("error %v, clean %t, held %v", res.Err, res.Clean, res.Draft.Plan.Blocked)
		}
		got, err := readCall(t.Context(), r.Session.negAPI.Get, &computepb.GetNetworkEndpointGroupRequest{Project: r.Config.Project, Zone: zone, NetworkEndpointGroup: name})
		if err != nil || got.GetDescription() != text || got.GetSize() != 0 {
			t.Errorf("%v, the stranger's group is now %v", err, got)
		}
	})
}
