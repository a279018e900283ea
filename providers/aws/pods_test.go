package aws

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
)

// TestPodGroups: a pod with a network interface of its own is let in by the group with the
// cluster's tag, or the only one; the nodes' group stays.
func TestPodGroups(t *testing.T) {
	c := loadCase(t, "testdata/lbc-pods")
	c.world.Facts.NodeGroups = append(slices.Clone(c.world.Facts.NodeGroups), NodeGroup{ID: "sg-pods", Tags: Tags{"kubernetes.io/cluster/shop": "shared"}}, NodeGroup{ID: "sg-team"})
	groups := func(of map[string][]string) (out []string) {
		w := c.world
		w.Facts.PodGroups = of
		in, _ := inputOf(c.config, w.ClusterName, c.service, w.Nodes, w.Slices...)
		want, problems, err := build(in, &w.Facts, nil)
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
	c := loadCase(t, "testdata/lbc-pods")
	c.world.Nodes[1].Spec.ProviderID = "aws:///eu-west-1b/0a1b/fargate-ip-10-0-4-10.eu-west-1.compute.internal"
	in, _ := inputOf(c.config, c.world.ClusterName, c.service, c.world.Nodes, c.world.Slices...)
	id, _ := instanceID(c.world.Nodes[0].Spec.ProviderID)
	want := []providers.Lookup{{Kind: KindNodeGroup, By: byAddress, Value: id + " 10.0.2.10"}, {Kind: KindNodeGroup, By: byAddress, Value: noMachine + " 10.0.4.10"}}
	if got := podLookups(in); !cmp.Equal(got[:min(2, len(got))], want) {
		t.Errorf("looked up are %v, want %v", got, want)
	}
	in.Config.DisableNodeRules = true
	if got := podLookups(in); got != nil {
		t.Errorf("without rules %v are looked up", got)
	}
}
