package all_test

import (
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
)

// TestNamedGroups: on every cloud and for each kind, whether the nodes let a security group
// in on all ports that a Service names: only where the page on security says so. What a
// key names is known to the policy, on the clouds that have such keys.
func TestNamedGroups(t *testing.T) {
	type kind struct{ cloud, kind string }
	open := map[kind]bool{{"aws", "clb"}: true}
	named := map[string]bool{"alibaba": true, "aws": true, "ibm": true, "oci": true, "tencent": true}
	for _, entry := range all.List() {
		names := false
		for _, c := range entry.Capabilities {
			svc := largeService(1, 1)
			svc.Annotations = map[string]string{}
			for _, row := range annotations.Rows(entry.Annotations) {
				if row.Group != "" && row.Example != "" && entry.Annotations.Works(row.Key, c.Kind) {
					svc.Annotations[row.Key] = row.Example
				}
			}
			bag, _ := entry.Annotations.Parse(c.Kind, annotations.SourceOf(svc))
			reach := entry.Reach(providers.Request{Service: svc, Kind: c.Kind, Values: bag})
			for _, n := range reach.Names {
				names = names || n.Thing == annotations.ThingSecurityGroup
			}
			if got := len(reach.Opens) > 0; got != open[kind{entry.Name, c.Kind}] {
				t.Errorf("%s/%s: the nodes let in on all ports: %v", entry.Name, c.Kind, reach.Opens)
			}
		}
		if names != named[entry.Name] {
			t.Errorf("%s: a key names a security group: %v, want %v", entry.Name, names, named[entry.Name])
		}
	}
}
