package gce_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func TestInternalBalancer(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 4}})
	w.check("hc")
	group := w.group(zoneA, "ig", "berth-demo-node-1")
	w.must(w.api.RegionBackendServices.Insert(project, region, &compute.BackendService{
		Name: "lb", LoadBalancingScheme: "INTERNAL", Protocol: "TCP", SessionAffinity: "CLIENT_IP", HealthChecks: []string{"regions/us-central1/healthChecks/hc"},
		Backends: []*compute.Backend{{Group: group}}, ConnectionDraining: &compute.ConnectionDraining{DrainingTimeoutSec: 30},
	}).Do())
	w.must(w.api.ForwardingRules.Insert(project, region, &compute.ForwardingRule{
		Name: "lb", LoadBalancingScheme: "INTERNAL", IPProtocol: "TCP", Ports: []string{"80", "443"}, BackendService: "regions/us-central1/backendServices/lb",
		Network: "global/networks/default", Subnetwork: "regions/us-central1/subnetworks/default",
	}).Do())
	rule := w.getRule("lb")
	if !strings.HasPrefix(rule.IPAddress, "10.128.") || rule.NetworkTier != "PREMIUM" || rule.Subnetwork != w.cloud.Seed.Subnets[0].URL || rule.AllowGlobalAccess {
		t.Errorf("rule %+v, want an address of 10.128.0.0/20, tier PREMIUM, and no global access", rule)
	}
	w.must(w.api.ForwardingRules.Patch(project, region, "lb", &compute.ForwardingRule{Name: "lb", AllowGlobalAccess: true}).Do())
	if !w.getRule("lb").AllowGlobalAccess {
		t.Error("no global access after the patch")
	}
	s, err := w.api.RegionBackendServices.Get(project, region, "lb").Do()
	if err != nil {
		t.Fatal(err)
	}
	if s.Backends[0].BalancingMode != "CONNECTION" || s.UsedBy[0].Reference != rule.SelfLink {
		t.Errorf("backend service %+v", s)
	}
	update := func(fingerprint, protocol string) string {
		next := *s
		next.Fingerprint, next.Protocol = fingerprint, protocol
		return w.done(w.api.RegionBackendServices.Update(project, region, "lb", &next).Do())
	}
	got := []string{
		update("", "TCP"), update("AAAAAAAAAAA=", "TCP"), update(s.Fingerprint, "UDP"), update(s.Fingerprint, "UNSPECIFIED"), update(s.Fingerprint, "TCP"),
		w.done(w.api.RegionBackendServices.Delete(project, region, "lb").Do()),
		w.done(w.api.RegionHealthChecks.Delete(project, region, "hc").Do()),
		w.done(w.api.InstanceGroups.Delete(project, zoneA, "ig").Do()),
		w.done(w.api.ForwardingRules.Patch(project, region, "lb", &compute.ForwardingRule{Ports: []string{"81"}}).Do()),
	}
	inUse, stale := "400 resourceInUseByAnotherResource", "412 conditionNotMet"
	want := []string{stale, stale, "400 invalid", "", stale, inUse, inUse, inUse, "400 invalid"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
}

func TestBackendServiceRules(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 5}})
	w.check("hc")
	w.must(w.api.HealthChecks.Insert(project, &compute.HealthCheck{Name: "world", Type: "TCP", TcpHealthCheck: &compute.TCPHealthCheck{Port: 80}}).Do())
	group, endpoints := w.group(zoneA, "ig", "berth-demo-node-1"), w.neg(zoneB, "neg")
	service := func(scheme string, change func(*compute.BackendService)) string {
		return w.service("s", scheme, change)
	}
	tracking := func(p compute.BackendServiceConnectionTrackingPolicy, affinity string) func(*compute.BackendService) {
		return func(s *compute.BackendService) { s.ConnectionTrackingPolicy, s.SessionAffinity = &p, affinity }
	}
	for name, got := range map[string]string{
		"managed":             service("INTERNAL_MANAGED", nil),
		"protocol":            service("EXTERNAL", func(s *compute.BackendService) { s.Protocol = "HTTP" }),
		"no health check":     service("EXTERNAL", func(s *compute.BackendService) { s.HealthChecks = nil }),
		"global health check": service("EXTERNAL", func(s *compute.BackendService) { s.HealthChecks = []string{"global/healthChecks/world"} }),
		"mixed groups":        service("EXTERNAL", func(s *compute.BackendService) { s.Backends = []*compute.Backend{{Group: group}, {Group: endpoints}} }),
		"twice the group":     service("EXTERNAL", func(s *compute.BackendService) { s.Backends = []*compute.Backend{{Group: group}, {Group: group}} }),
		"balancing mode": service("INTERNAL", func(s *compute.BackendService) {
			s.Backends = []*compute.Backend{{Group: group, BalancingMode: "UTILIZATION"}}
		}),
		"max connections":  service("INTERNAL", func(s *compute.BackendService) { s.Backends = []*compute.Backend{{Group: group, MaxConnections: 5}} }),
		"external network": service("EXTERNAL", func(s *compute.BackendService) { s.Network = "global/networks/default" }),
		"affinity":         service("EXTERNAL", func(s *compute.BackendService) { s.SessionAffinity = "CLIENT_IP_NO_DESTINATION" }),
		"draining": service("EXTERNAL", func(s *compute.BackendService) {
			s.ConnectionDraining = &compute.ConnectionDraining{DrainingTimeoutSec: 3601}
		}),
		"internal strong": service("INTERNAL", tracking(compute.BackendServiceConnectionTrackingPolicy{EnableStrongAffinity: true, TrackingMode: "PER_SESSION"}, "CLIENT_IP")),
		"strong, no mode": service("EXTERNAL", tracking(compute.BackendServiceConnectionTrackingPolicy{EnableStrongAffinity: true}, "CLIENT_IP")),
		"short idle":      service("INTERNAL", tracking(compute.BackendServiceConnectionTrackingPolicy{TrackingMode: "PER_SESSION", IdleTimeoutSec: 60}, "CLIENT_IP")),
		"sample rate": service("EXTERNAL", func(s *compute.BackendService) {
			s.LogConfig = &compute.BackendServiceLogConfig{Enable: true, SampleRate: 2}
		}),
		"locality": service("EXTERNAL", func(s *compute.BackendService) { s.LocalityLbPolicy = "ROUND_ROBIN" }),
		"external zonal": service("EXTERNAL", func(s *compute.BackendService) {
			s.NetworkPassThroughLbTrafficPolicy = &compute.BackendServiceNetworkPassThroughLbTrafficPolicy{
				ZonalAffinity: &compute.BackendServiceNetworkPassThroughLbTrafficPolicyZonalAffinity{Spillover: "ZONAL_AFFINITY_STAY_WITHIN_ZONE"},
			}
		}),
	} {
		if got != "400 invalid" {
			t.Errorf("%s: %q, want 400 invalid", name, got)
		}
	}
	if got := service("EXTERNAL", tracking(compute.BackendServiceConnectionTrackingPolicy{EnableStrongAffinity: true, TrackingMode: "PER_SESSION", IdleTimeoutSec: 120}, "CLIENT_IP_PROTO")); got != "" {
		t.Errorf("external service with strong affinity: %s", got)
	}
	if got := w.service("zonal", "INTERNAL", func(s *compute.BackendService) {
		s.HealthChecks = []string{"global/healthChecks/world"}
		s.Backends = []*compute.Backend{{Group: endpoints, BalancingMode: "CONNECTION"}}
		s.NetworkPassThroughLbTrafficPolicy = &compute.BackendServiceNetworkPassThroughLbTrafficPolicy{
			ZonalAffinity: &compute.BackendServiceNetworkPassThroughLbTrafficPolicyZonalAffinity{Spillover: "ZONAL_AFFINITY_SPILL_CROSS_ZONE"},
		}
	}); got != "" {
		t.Errorf("internal service: %s", got)
	}
}

// TestOneBalancedGroupPerInstance is a rule that clusters meet which have groups
// of several controllers.
func TestOneBalancedGroupPerInstance(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 5}})
	w.check("hc")
	one, two := w.group(zoneA, "one", "berth-demo-node-1"), w.group(zoneA, "two", "berth-demo-node-1")
	backends := func(groups ...string) func(*compute.BackendService) {
		return func(s *compute.BackendService) {
			for _, g := range groups {
				s.Backends = append(s.Backends, &compute.Backend{Group: g})
			}
		}
	}
	got := []string{
		w.service("both", "INTERNAL", backends(one, two)),
		w.service("first", "INTERNAL", backends(one)),
		w.service("second", "EXTERNAL", backends(two)),
		w.service("third", "EXTERNAL", backends(one)),
		w.done(w.api.InstanceGroups.RemoveInstances(project, zoneA, "two", &compute.InstanceGroupsRemoveInstancesRequest{Instances: instanceRefs(zoneA, "berth-demo-node-1")}).Do()),
		w.service("second", "EXTERNAL", backends(two)),
		w.done(w.api.InstanceGroups.AddInstances(project, zoneA, "two", &compute.InstanceGroupsAddInstancesRequest{Instances: instanceRefs(zoneA, "berth-demo-node-1")}).Do()),
		w.done(w.api.InstanceGroups.AddInstances(project, zoneA, "two", &compute.InstanceGroupsAddInstancesRequest{Instances: instanceRefs(zoneA, "berth-demo-node-5")}).Do()),
	}
	twice := "400 instanceInMultipleLoadBalancedIgs"
	if diff := cmp.Diff([]string{twice, "", twice, "", "", "", twice, ""}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestForwardingRulesOfAService(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	w.check("hc")
	for name, protocol := range map[string]string{"tcp": "TCP", "any": "UNSPECIFIED"} {
		if got := w.service(name, "EXTERNAL", func(s *compute.BackendService) { s.Protocol = protocol }); got != "" {
			t.Fatal(got)
		}
	}
	w.must(w.api.Addresses.Insert(project, region, &compute.Address{Name: "ip"}).Do())
	rule := func(name, service, protocol, ports string) string {
		r := &compute.ForwardingRule{Name: name, BackendService: "regions/us-central1/backendServices/" + service, IPProtocol: protocol, IPAddress: "ip"}
		switch {
		case ports == "all":
			r.AllPorts = true
		case strings.Contains(ports, ","):
			r.Ports = strings.Split(ports, ",")
		default:
			r.PortRange = ports
		}
		return w.rule(r)
	}
	for _, c := range []struct{ name, service, protocol, ports, want string }{
		{"six", "tcp", "TCP", "1,2,3,4,5,6", "400 invalid"},
		{"twice", "tcp", "TCP", "1,1", "400 invalid"},
		{"wrong-protocol", "tcp", "UDP", "80", "400 invalid"},
		{"l3-on-tcp", "tcp", "L3_DEFAULT", "all", "400 invalid"},
		{"l3-with-ports", "any", "L3_DEFAULT", "80", "400 invalid"},
		{"reverse", "tcp", "TCP", "90-80", "400 invalid"},
		{"tcp", "tcp", "TCP", "80-90", ""},
		{"meets", "any", "TCP", "70,85", "400 invalid"},
		{"udp", "any", "UDP", "80-90", ""},
		{"beside", "any", "TCP", "70,91", ""},
		{"l3", "any", "L3_DEFAULT", "all", ""},
		{"l3-again", "any", "L3_DEFAULT", "all", "400 invalid"},
	} {
		if got := rule(c.name, c.service, c.protocol, c.ports); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	address, err := w.api.Addresses.Get(project, region, "ip").Do()
	if err != nil || address.Status != "IN_USE" || len(address.Users) != 4 {
		t.Errorf("address %+v, %v, want it in use by 4 rules", address, err)
	}
}
