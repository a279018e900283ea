package gce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/test/props"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
	"github.com/berth-lb/berth/test/sim/gce/wire"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// official is a cloud in which ingress-gce has served until now.
type official struct{ subject }

// Slices say that the pods of Services with policy Local are on the first two nodes.
func (o official) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	if !hasLocalPolicy(svc) {
		return nil
	}
	ready := true
	out := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for i, n := range o.running.Cloud.Seed.Nodes[:2] {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{fmt.Sprintf("10.8.%d.10", i)}, NodeName: &n.Name, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: fmt.Sprint("pod-", i)},
		})
	}
	return []*discoveryv1.EndpointSlice{out}
}

// servedByL4 are Services of both kinds that have been served by ingress-gce.
func servedByL4() []*corev1.Service {
	const internal, external = "l4-regional-internal", "l4-regional-external"
	atNode := func(s *corev1.ServiceSpec) {
		s.ExternalTrafficPolicy, s.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
	}
	udp := func(s *corev1.ServiceSpec) {
		s.Ports = []corev1.ServicePort{{Name: "syslog", Protocol: corev1.ProtocolUDP, Port: 514, NodePort: 30514}}
	}
	six := func(s *corev1.ServiceSpec) {
		s.Ports = nil
		for i, p := range []int32{80, 443, 8080, 8443, 9000, 9443} {
			s.Ports = append(s.Ports, corev1.ServicePort{Name: fmt.Sprint("port-", p), Protocol: corev1.ProtocolTCP, Port: p, NodePort: 30080 + int32(i)})
		}
	}
	some := func(s *corev1.ServiceSpec) {
		s.LoadBalancerSourceRanges = []string{"198.51.100.0/24", "203.0.113.7/32"}
	}
	strong := func(s *corev1.ServiceSpec) {
		useClientAffinity(s)
		s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(int32(120))}}
	}
	of := func(key, value string) map[string]string { return map[string]string{key: value} }
	var out []*corev1.Service
	for i, c := range []props.Case{
		serviceCase("ilb-plain", internal, nil), serviceCase("ilb-local", internal, nil, atNode), serviceCase("ilb-mixed", internal, nil, mixProtocols),
		serviceCase("ilb-udp", internal, nil, udp), serviceCase("ilb-sticky", internal, nil, useClientAffinity), serviceCase("ilb-ranges", internal, nil, some),
		serviceCase("ilb-six-ports", internal, nil, six),
		serviceCase("ilb-global", internal, of("networking.gke.io/internal-load-balancer-allow-global-access", "true")),
		serviceCase("ilb-subnet", internal, of("networking.gke.io/internal-load-balancer-subnet", "berth-demo-dual")),
		serviceCase(strings.Repeat("a-long-name-", 4)+"of-an-ilb", internal, nil),
		serviceCase("net-plain", external, nil), serviceCase("net-local", external, nil, atNode), serviceCase("net-mixed", external, nil, mixProtocols),
		serviceCase("net-udp", external, nil, udp),
		serviceCase("net-strong", external, of("networking.gke.io/l4-strong-session-affinity", "enabled"), strong),
		serviceCase("net-weighted", external, of("networking.gke.io/weighted-load-balancing", "pods-per-node"), atNode),
		serviceCase("net-standard", external, of("cloud.google.com/network-tier", "Standard"), six),
		serviceCase("net-static", external, of("networking.gke.io/load-balancer-ip-addresses", "user-premium"), some),
	} {
		c.Service.Name, c.Service.UID = c.Name, types.UID(fmt.Sprintf("%08d-1234-4123-8123-123456789012", i))
		out = append(out, c.Service)
	}
	return out
}

// TestTakeOverOfTheController: of the resources of ingress-gce, whatever its flags,
// nothing is written again, and nothing of them is left once the Services are deleted.
func TestTakeOverOfTheController(t *testing.T) {
	const further = "enable-l4-deny-firewall = true\nenable-l3-default-forwarding-rule-for-netlb-mixed-protocol = true\nenable-discrete-port-forwarding = true\n"
	for _, set := range []struct {
		name, config string
		flags        l4
	}{
		{"instance groups", "", l4{}},
		{"endpoint groups", "enable-l4-netlb-neg-default = true\n", l4{negs: true}},
		{"endpoint groups, denial, all of IP and single ports", "enable-l4-netlb-neg-default = true\n" + further, l4{negs: true, deny: true, l3: true, discrete: true}},
	} {
		virtual.Run(t, set.name, func(t *testing.T) {
			running := simtest.Start(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 6}, Compute: compute.Options{QuotaFactor: 100}})
			o := official{subject{running: running, config: set.config}}
			theirs := set.flags
			theirs.t, theirs.running = t, running
			theirs.insert(l4Region+"/addresses", wire.Object{"name": "user-premium", "networkTier": "PREMIUM"})
			before := props.State(t, o.Control())
			served := servedByL4()
			for _, svc := range served {
				theirs.serve(svc, []string{running.Cloud.Seed.Nodes[0].Name, running.Cloud.Seed.Nodes[1].Name})
			}
			writes, rest := props.TakeOver(t, o, served)
			for _, call := range writes {
				t.Errorf("%s %v", call.Operation, call.Request)
			}
			if len(served) != 18 {
				t.Errorf("%d Services", len(served))
			}
			if rest != before {
				t.Errorf("left (-before +after):\n%s", cmp.Diff(before, rest))
			}
		})
	}
}
