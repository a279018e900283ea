package gce_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// TestRoleLacks takes one permission after the other out of the documented role and
// makes a target pool with an address, a rule and a firewall: the call that needs the
// permission is refused.
func TestRoleLacks(t *testing.T) {
	definition, err := os.ReadFile("../../../docs/permissions/gce.yaml")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := simgce.ParseRole(definition)
	if err != nil {
		t.Fatal(err)
	}
	const refused = "403 forbidden"
	tests := map[string]string{
		"": "", "compute.targetPools.create": "pool", "compute.addresses.create": "address internal", "compute.addresses.createInternal": "internal",
		"compute.subnetworks.use": "internal", "compute.forwardingRules.create": "rule", "compute.targetPools.use": "rule",
		"compute.firewalls.create": "firewall", "compute.networks.updatePolicy": "firewall", "compute.forwardingRules.list": "list",
	}
	for lacks, want := range tests {
		t.Run(lacks, func(t *testing.T) {
			w := startWorld(t, simgce.Options{})
			role := maps.Clone(whole)
			delete(role, lacks)
			w.cloud.SetRole(role)
			subnet := "regions/" + region + "/subnetworks/default"
			for _, call := range []struct {
				name string
				do   func() error
			}{
				{"pool", func() error {
					_, err := w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: "pool"}).Do()
					return err
				}},
				{"address", func() error {
					_, err := w.api.Addresses.Insert(project, region, &compute.Address{Name: "a"}).Do()
					return err
				}},
				{"internal", func() error {
					_, err := w.api.Addresses.Insert(project, region, &compute.Address{Name: "i", AddressType: "INTERNAL", Subnetwork: subnet}).Do()
					return err
				}},
				{"rule", func() error {
					_, err := w.api.ForwardingRules.Insert(project, region, &compute.ForwardingRule{Name: "r", Target: "regions/us-central1/targetPools/pool", PortRange: "80"}).Do()
					return err
				}},
				{"firewall", func() error {
					_, err := w.api.Firewalls.Insert(project, &compute.Firewall{Name: "f", Network: "global/networks/default", Allowed: []*compute.FirewallAllowed{{IPProtocol: "tcp"}}}).Do()
					return err
				}},
				{"list", func() error { _, err := w.api.ForwardingRules.List(project, region).Do(); return err }},
			} {
				if err := call.do(); (errorCode(err) == refused) != slices.Contains(strings.Fields(want), call.name) {
					t.Errorf("%s: %v; want %q to be refused", call.name, err, want)
				}
			}
		})
	}
}
