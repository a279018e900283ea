package gce_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func (w world) address(a *compute.Address) string {
	return w.done(w.api.Addresses.Insert(project, region, a).Do())
}

func (w world) getAddress(name string) *compute.Address {
	w.Helper()
	a, err := w.api.Addresses.Get(project, region, name).Do()
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func TestInternalAddresses(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 1}})
	w.check("hc")
	if got := w.service("s", "INTERNAL", nil); got != "" {
		t.Fatal(got)
	}
	rule := func(name, ip string, port string) string {
		return w.rule(&compute.ForwardingRule{Name: name, LoadBalancingScheme: "INTERNAL", IPAddress: ip, Ports: []string{port}, BackendService: "regions/us-central1/backendServices/s"})
	}
	internal := func(name, ip, purpose string) string {
		return w.address(&compute.Address{Name: name, AddressType: "INTERNAL", Address: ip, Purpose: purpose})
	}
	got := []string{
		rule("outside", "10.9.0.1", "80"),
		rule("node", w.cloud.Seed.Nodes[0].InternalIP, "80"),
		rule("first", "10.128.9.9", "80"),
		rule("second", "10.128.9.9", "81"),
		internal("held", "10.128.9.9", ""), // Promotes the address of the first rule.
		internal("again", "10.128.9.9", ""),
		rule("third", "10.128.9.9", "82"),
		internal("shared", "10.128.9.10", "SHARED_LOADBALANCER_VIP"),
		rule("fourth", "10.128.9.10", "80"),
		rule("fifth", "shared", "81"),
		rule("sixth", "shared", "81"),
		internal("far", "10.9.0.1", ""),
		internal("of-a-node", w.cloud.Seed.Nodes[0].InternalIP, ""),
	}
	taken := "409 alreadyExists"
	want := []string{"400 invalid", taken, "", taken, "", taken, taken, "", "", "", "400 invalid", "400 invalid", taken}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	held := w.getAddress("held")
	if held.Status != "IN_USE" || held.NetworkTier != "PREMIUM" || held.Purpose != "GCE_ENDPOINT" || held.Subnetwork != w.cloud.Seed.Subnets[0].URL {
		t.Errorf("held address %+v", held)
	}
}

func TestExternalAddresses(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	pool := w.pool("pool")
	if got := w.rule(&compute.ForwardingRule{Name: "r", Target: pool, PortRange: "80", NetworkTier: "STANDARD"}); got != "" {
		t.Fatal(got)
	}
	ip := w.getRule("r").IPAddress
	got := []string{
		w.rule(&compute.ForwardingRule{Name: "r2", Target: pool, PortRange: "81", IPAddress: ip}),
		w.address(&compute.Address{Name: "wrong-tier", Address: ip, NetworkTier: "PREMIUM"}),
		w.address(&compute.Address{Name: "foreign", Address: "192.0.2.1"}),
		w.address(&compute.Address{Name: "held", Address: ip, NetworkTier: "STANDARD"}),
		w.address(&compute.Address{Name: "again", Address: ip, NetworkTier: "STANDARD"}),
		w.rule(&compute.ForwardingRule{Name: "r2", Target: pool, PortRange: "80", IPAddress: ip, NetworkTier: "STANDARD"}),
		w.rule(&compute.ForwardingRule{Name: "r2", Target: pool, PortRange: "81", IPAddress: ip, NetworkTier: "STANDARD"}),
		w.done(w.api.ForwardingRules.Delete(project, region, "r").Do()),
		w.done(w.api.ForwardingRules.Delete(project, region, "r2").Do()),
		w.getAddress("held").Status,
		w.rule(&compute.ForwardingRule{Name: "r3", Target: pool, PortRange: "80", IPAddress: ip, NetworkTier: "STANDARD"}),
	}
	bad := "400 invalid"
	if diff := cmp.Diff([]string{bad, bad, bad, "", bad, bad, "", "", "", "RESERVED", ""}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := w.getRule("r3"); got.IPAddress != ip || got.NetworkTier != "STANDARD" {
		t.Errorf("new rule %+v, want the held address %s", got, ip)
	}
	for _, c := range []struct {
		name string
		a    *compute.Address
		text string
	}{
		{"tier", &compute.Address{Name: "t", Address: ip}, "already reserved"},
	} {
		_, err := w.api.Addresses.Insert(project, region, c.a).Do()
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
}

func TestIPv6(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	w.check("hc")
	if got := w.service("out", "EXTERNAL", nil) + w.service("in", "INTERNAL", nil); got != "" {
		t.Fatal(got)
	}
	rule := func(name, scheme, subnet, ip string) string {
		service, r := "out", &compute.ForwardingRule{Name: name, LoadBalancingScheme: scheme, IpVersion: "IPV6", IPAddress: ip, Ports: []string{"80"}}
		if scheme == "INTERNAL" {
			service = "in"
		}
		r.BackendService = "regions/us-central1/backendServices/" + service
		if subnet != "" {
			r.Subnetwork = "regions/us-central1/subnetworks/" + subnet
		}
		return w.rule(r)
	}
	got := []string{
		rule("no-subnet", "EXTERNAL", "", ""),
		rule("v4-subnet", "EXTERNAL", "default", ""),
		rule("inner-subnet", "EXTERNAL", "berth-demo-dual-internal", ""),
		rule("out", "EXTERNAL", "berth-demo-dual", ""),
		rule("in", "INTERNAL", "berth-demo-dual-internal", ""),
	}
	bad := "400 invalid"
	if diff := cmp.Diff([]string{"400 required", bad, bad, "", ""}, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	out, in := w.getRule("out").IPAddress, w.getRule("in").IPAddress
	if !strings.HasSuffix(out, ":0:0/96") || !strings.HasPrefix(in, "fd20:") || strings.Contains(in, "/") {
		t.Errorf("addresses %s and %s, want a range of /96 and an address of fd20:", out, in)
	}
	hold := &compute.Address{Name: "held", Address: strings.TrimSuffix(out, "/96"), PrefixLength: 96, NetworkTier: "PREMIUM"}
	got = []string{
		w.address(&compute.Address{Name: "vm", IpVersion: "IPV6", Subnetwork: "regions/us-central1/subnetworks/berth-demo-dual"}),
		w.address(hold), w.address(&compute.Address{Name: "again", Address: hold.Address, PrefixLength: 96}),
		w.done(w.api.ForwardingRules.Delete(project, region, "out").Do()),
		rule("no-prefix", "EXTERNAL", "berth-demo-dual", hold.Address),
		rule("other", "EXTERNAL", "berth-demo-dual", ""),
		w.done(w.api.Addresses.Delete(project, region, "held").Do()),
		rule("late", "EXTERNAL", "berth-demo-dual", out),
	}
	if diff := cmp.Diff([]string{bad, "", "412 conditionNotMet", "", "", "", "", bad}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if other := w.getRule("other").IPAddress; other == out {
		t.Errorf("the address %s was given away while it was held", out)
	}
}
