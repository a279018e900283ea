package model

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// TestPodGroups: a pod with a network interface of its own is let in by the group with the
// cluster's tag, or the only one; the nodes' group stays.
func TestPodGroups(t *testing.T) {
	c := suite().Open(t, "lbc-pods")
	c.World.Facts.NodeGroups = append(slices.Clone(c.World.Facts.NodeGroups), NodeGroup{ID: "sg-pods", Tags: Tags{"kubernetes.io/cluster/shop": "shared"}}, NodeGroup{ID: "sg-team"})
	groups := func(of map[string][]string) (out []string) {
		w := c.World
		w.Facts.PodGroups = of
		in, _ := inputOf(c.Config, w.ClusterName, c.Service, w.Nodes, w.Slices...)
		want, problems, err := buildStack(in, w.Facts, nil)
		if err != nil || problems.Errors() {
			t.Fatal(err, problems.Strings())
		}
		for _, r := range want.Of(KindNodeRule) {
			if rule, ok := r.Spec.(NodeRule); ok {
				out = append(out, rule.Group)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	for name, tc := range map[string]struct {
		of   map[string][]string
		want []string
	}{
		"none":                  {nil, []string{"sg-nodes"}},
		"of a pod that is none": {map[string][]string{"10.0.2.99": {"sg-pods"}}, []string{"sg-nodes"}},
		"only one":              {map[string][]string{"10.0.2.10": {"sg-team"}}, []string{"sg-nodes", "sg-team"}},
		"with the tag":          {map[string][]string{"10.0.2.10": {"sg-pods", "sg-team"}, "10.0.4.10": {"sg-pods"}}, []string{"sg-nodes", "sg-pods"}},
	} {
		if got := groups(tc.of); !slices.Equal(got, tc.want) {
			t.Errorf("%s: rules are in %v, want %v", name, got, tc.want)
		}
	}
}

// TestPodLookups: pods are looked up node by node, those on no instance by themselves, and
// none where nodes are targets or have no rules.
func TestPodLookups(t *testing.T) {
	c := suite().Open(t, "lbc-pods")
	c.World.Nodes[1].Spec.ProviderID = "aws:///eu-west-1b/0a1b/fargate-ip-10-0-4-10.eu-west-1.compute.internal"
	in, _ := c.Input(c.Service)
	id, _ := InstanceID(c.World.Nodes[0].Spec.ProviderID)
	want := []providers.Lookup{{Kind: KindNodeGroup, By: ByAddress, Value: id + " 10.0.2.10"}, {Kind: KindNodeGroup, By: ByAddress, Value: NoMachine + " 10.0.4.10"}}
	if got := podLookups(in); !cmp.Equal(got[:min(2, len(got))], want) {
		t.Errorf("looked up are %v, want %v", got, want)
	}
	in.Config.DisableNodeRules = true
	if got := podLookups(in); got != nil {
		t.Errorf("without rules %v are looked up", got)
	}
}

// TestZoneOfTargets: an address in no subnet is registered with the zone "all", unless
// it is already registered without one, or with one that it would not get today.
func TestZoneOfTargets(t *testing.T) {
	c := suite().Open(t, "lbc-pods")
	in, _ := c.Input(c.Service)
	key := stack.Key{Kind: KindTargets, Name: PortKey(corev1.ProtocolTCP, 80)}
	zones := func(there ...Target) map[string]string {
		have := &stack.Stack{Owner: in.Owner, Resources: []stack.Resource{{Key: key, ID: "arn", Proof: stack.Derived, Spec: Targets{Targets: there}}}}
		want, problems, err := buildStack(in, c.World.Facts, have)
		if err != nil || problems.Errors() {
			t.Fatal(err, problems.Strings())
		}
		res, _ := want.Get(key)
		out := map[string]string{}
		for _, target := range res.Spec.(Targets).Targets {
			out[target.ID] = target.Zone
		}
		return out
	}
	inside, outside := Target{ID: "10.0.2.10", Port: 8080}, Target{ID: "192.168.7.7", Port: 8080}
	odd := Target{ID: inside.ID, Port: inside.Port, Zone: ZoneOutside}
	for name, tc := range map[string]struct {
		there           []Target
		inside, outside string
	}{
		"new": {nil, "", ZoneOutside}, "there": {[]Target{inside, outside}, "", ""}, "with the zone": {[]Target{odd}, ZoneOutside, ZoneOutside},
	} {
		if got := zones(tc.there...); got[inside.ID] != tc.inside || got[outside.ID] != tc.outside {
			t.Errorf("%s: %v", name, got)
		}
	}
}
