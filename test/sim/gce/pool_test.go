package gce_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// TestTargetPoolBalancer builds and removes what the cloud controller manager
// makes of an external Service.
func TestTargetPoolBalancer(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 5}})
	w.must(w.api.HttpHealthChecks.Insert(project, &compute.HttpHealthCheck{
		Name: "check", Port: 10256, RequestPath: "/healthz", CheckIntervalSec: 8, TimeoutSec: 1, HealthyThreshold: 1, UnhealthyThreshold: 3,
	}).Do())
	w.must(w.api.TargetPools.Insert(project, region, &compute.TargetPool{
		Name: "lb", SessionAffinity: "NONE", HealthChecks: []string{"global/httpHealthChecks/check"},
		Instances: []string{"/zones/us-central1-a/instances/berth-demo-node-1", base + "zones/us-central1-b/instances/berth-demo-node-2"},
	}).Do())
	w.must(w.api.Addresses.Insert(project, region, &compute.Address{Name: "lb", NetworkTier: "PREMIUM"}).Do())
	address, err := w.api.Addresses.Get(project, region, "lb").Do()
	if err != nil {
		t.Fatal(err)
	}
	w.must(w.api.ForwardingRules.Insert(project, region, &compute.ForwardingRule{
		Name: "lb", IPAddress: address.Address, IPProtocol: "TCP", PortRange: "80", NetworkTier: "PREMIUM", Target: base + "regions/us-central1/targetPools/lb",
	}).Do())
	w.must(w.api.TargetPools.AddInstance(project, region, "lb", &compute.TargetPoolsAddInstanceRequest{Instances: instanceRefs(zoneA, "berth-demo-node-5", "berth-demo-node-1")}).Do())
	w.must(w.api.TargetPools.RemoveInstance(project, region, "lb", &compute.TargetPoolsRemoveInstanceRequest{Instances: instanceRefs(zoneB, "berth-demo-node-2")}).Do())
	pool, err := w.api.TargetPools.Get(project, region, "lb").Do()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{base + "zones/us-central1-a/instances/berth-demo-node-1", base + "zones/us-central1-a/instances/berth-demo-node-5"}
	if diff := cmp.Diff(want, pool.Instances); diff != "" {
		t.Errorf("instances of the pool (-want +got)\n%s", diff)
	}
	rule := w.getRule("lb")
	wantRule := &compute.ForwardingRule{
		Name: "lb", IPAddress: address.Address, IPProtocol: "TCP", PortRange: "80-80", NetworkTier: "PREMIUM", LoadBalancingScheme: "EXTERNAL",
		Target: base + "regions/us-central1/targetPools/lb", Region: base + "regions/us-central1", SelfLink: base + "regions/us-central1/forwardingRules/lb",
		Kind: "compute#forwardingRule", LabelFingerprint: "42WmSpB8rSM=", Id: rule.Id, CreationTimestamp: rule.CreationTimestamp, Fingerprint: rule.Fingerprint,
		ServerResponse: rule.ServerResponse,
	}
	if diff := cmp.Diff(wantRule, rule); diff != "" {
		t.Errorf("rule (-want +got)\n%s", diff)
	}
	got := []string{
		w.done(w.api.TargetPools.Delete(project, region, "lb").Do()),
		w.done(w.api.HttpHealthChecks.Delete(project, "check").Do()),
		w.done(w.api.Addresses.Delete(project, region, "lb").Do()), // The rule keeps the address.
		w.getRule("lb").IPAddress,
		w.done(w.api.Addresses.Insert(project, region, &compute.Address{Name: "again", Address: address.Address}).Do()),
		w.done(w.api.ForwardingRules.Delete(project, region, "lb").Do()),
		w.done(w.api.TargetPools.Delete(project, region, "lb").Do()),
		w.done(w.api.HttpHealthChecks.Delete(project, "check").Do()),
		w.done(w.api.HttpHealthChecks.Delete(project, "check").Do()),
	}
	inUse := "400 resourceInUseByAnotherResource"
	if diff := cmp.Diff([]string{inUse, inUse, "", address.Address, "", "", "", "", "404 notFound"}, got); diff != "" {
		t.Errorf("taking down (-want +got)\n%s", diff)
	}
}

func TestTargetPoolRefusals(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 1}})
	pool := w.pool("pool")
	insert := func(p *compute.TargetPool) string {
		return w.done(w.api.TargetPools.Insert(project, region, p).Do())
	}
	for name, c := range map[string]struct{ got, want string }{
		"name taken":          {insert(&compute.TargetPool{Name: "pool"}), "409 alreadyExists"},
		"bad name":            {insert(&compute.TargetPool{Name: "Pool_1"}), "400 invalid"},
		"no name":             {insert(&compute.TargetPool{}), "400 required"},
		"unknown instance":    {insert(&compute.TargetPool{Name: "p", Instances: []string{"zones/us-central1-a/instances/ghost"}}), "404 notFound"},
		"bare instance name":  {insert(&compute.TargetPool{Name: "p", Instances: []string{"berth-demo-node-1"}}), "400 invalid"},
		"unknown affinity":    {insert(&compute.TargetPool{Name: "p", SessionAffinity: "COOKIE"}), "400 invalid"},
		"other health check":  {insert(&compute.TargetPool{Name: "p", HealthChecks: []string{"global/healthChecks/hc"}}), "400 invalid"},
		"rule with ports":     {w.rule(&compute.ForwardingRule{Name: "r", Target: pool, Ports: []string{"80"}}), "400 invalid"},
		"rule with all ports": {w.rule(&compute.ForwardingRule{Name: "r", Target: pool, AllPorts: true}), "400 invalid"},
		"internal rule":       {w.rule(&compute.ForwardingRule{Name: "r", Target: pool, PortRange: "80", LoadBalancingScheme: "INTERNAL"}), "400 invalid"},
		"unknown target":      {w.rule(&compute.ForwardingRule{Name: "r", Target: "regions/us-central1/targetPools/ghost", PortRange: "80"}), "404 notFound"},
		"no target":           {w.rule(&compute.ForwardingRule{Name: "r", PortRange: "80"}), "400 invalid"},
		"STANDARD IP, other tier": {func() string {
			w.must(w.api.Addresses.Insert(project, region, &compute.Address{Name: "cheap", NetworkTier: "STANDARD"}).Do())
			return w.rule(&compute.ForwardingRule{Name: "r", Target: pool, PortRange: "80", IPAddress: "cheap", NetworkTier: "PREMIUM"})
		}(), "400 invalid"},
		"foreign address": {w.rule(&compute.ForwardingRule{Name: "r", Target: pool, PortRange: "80", IPAddress: "192.0.2.1"}), "400 invalid"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}
