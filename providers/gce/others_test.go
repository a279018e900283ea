package gce

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// TestGroupsOfOthers: with SkipIGsManagement all groups stand behind the load
// balancer that begin with the name of ours, and none is made, filled or deleted.
func TestGroupsOfOthers(t *testing.T) {
	r := newRig(t, simgce.Options{}, "")
	zones := map[string]bool{}
	for _, n := range r.nodes {
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
			err := tell(t.Context(), r.session, r.session.groupAPI.Insert, &computepb.InsertInstanceGroupRequest{
				Project: r.config.Project, Zone: zone, InstanceGroupResource: &computepb.InstanceGroup{Name: &name},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(want)
	file := "alpha-features = SkipIGsManagement\n"
	r.open(file)
	svc := service(1, igClass, nil)
	before := r.groupNames()
	have := r.arrive(svc)
	var got []string
	for _, b := range have.Of(KindBackend) {
		spec, _ := b.Spec.(Backend)
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
}

// TestMoreNodesThanAGroupTakes: the rest is named, and nobody of the first
// thousand moves.
func TestMoreNodesThanAGroupTakes(t *testing.T) {
	b := builderOf(1003)
	refs := b.groups()
	group, _ := b.out.Get(refs[0].To)
	spec, _ := group.Spec.(Group)
	if len(refs) != 1 || len(spec.Instances) != maxGroupMembers {
		t.Errorf("%d groups with %d members", len(refs), len(spec.Instances))
	}
	if len(b.problems) != 1 || !strings.Contains(b.problems[0].String(), "n-1000, n-1001, n-1002") {
		t.Errorf("problems %v", b.problems.Strings())
	}
}

// builderOf is a build with so many nodes of one zone.
func builderOf(nodes int) *builder {
	svc := service(1, igClass, nil)
	in := input{Service: svc, Kind: InternalIG}
	in.Config.ClusterID = "c"
	b := newBuilder(in, &Facts{}, &stack.Stack{})
	for i := range nodes {
		name := fmt.Sprintf("n-%04d", i)
		b.nodes = append(b.nodes, member{node: name, instance: name, zone: "z-1-a"})
	}
	return b
}
