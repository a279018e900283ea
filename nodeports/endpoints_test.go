package nodeports

import (
	"fmt"
	"math/rand"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type state struct{ ready, serving, terminating *bool }

var (
	unset    = state{}
	isReady  = state{pointerTo(true), pointerTo(true), pointerTo(false)}
	notReady = state{pointerTo(false), pointerTo(false), pointerTo(false)}
	draining = state{pointerTo(false), pointerTo(true), pointerTo(true)}
	dying    = state{pointerTo(false), pointerTo(false), pointerTo(true)}
	noServe  = state{ready: pointerTo(false), terminating: pointerTo(true)} // serving not set
)

func newEndpoint(addr, node string, s state) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{
		Addresses:  []string{addr, "203.0.113.99"}, // Only the first address counts.
		Conditions: discoveryv1.EndpointConditions{Ready: s.ready, Serving: s.serving, Terminating: s.terminating},
	}
	if node != "" {
		e.NodeName, e.Zone = pointerTo(node), pointerTo("zone-"+node)
	}
	return e
}

func newSlice(family discoveryv1.AddressType, ports []discoveryv1.EndpointPort, eps ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "s-" + string(family)}, AddressType: family, Ports: ports, Endpoints: eps}
}

func tcpPort(name string, port int32) discoveryv1.EndpointPort {
	return discoveryv1.EndpointPort{Name: &name, Port: &port, Protocol: pointerTo(corev1.ProtocolTCP)}
}

func webPort(number int32) []discoveryv1.EndpointPort {
	return []discoveryv1.EndpointPort{tcpPort("web", number)}
}

// expectedEndpoint returns an endpoint on a node, as the slices of these tests describe
// it.
func expectedEndpoint(addr, node string, port int32, terminating bool) Endpoint {
	e := Endpoint{Addr: netip.MustParseAddr(addr), Port: port, Node: node, Terminating: terminating}
	if node != "" {
		e.Zone = "zone-" + node
	}
	return e
}

func TestEndpointsOf(t *testing.T) {
	v4, v6 := discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6
	for name, tc := range map[string]struct {
		slices []*discoveryv1.EndpointSlice
		local  bool
		want   []Endpoint // of port web in IPv4
		want6  []Endpoint
	}{
		"none": {},
		"conditions not set mean ready": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(8080), newEndpoint("10.0.0.2", "b", unset), newEndpoint("10.0.0.1", "", isReady))},
			want:   []Endpoint{expectedEndpoint("10.0.0.1", "", 8080, false), expectedEndpoint("10.0.0.2", "b", 8080, false)},
		},
		"only ready ones while there are any": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(80), newEndpoint("10.0.0.1", "a", isReady), newEndpoint("10.0.0.2", "b", draining), newEndpoint("10.0.0.3", "c", notReady), newEndpoint("10.0.0.4", "d", dying))},
			want:   []Endpoint{expectedEndpoint("10.0.0.1", "a", 80, false)},
		},
		"terminating ones when none is ready": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(80), newEndpoint("10.0.0.2", "b", draining), newEndpoint("10.0.0.3", "c", notReady), newEndpoint("10.0.0.4", "d", dying), newEndpoint("10.0.0.5", "e", noServe))},
			want:   []Endpoint{expectedEndpoint("10.0.0.2", "b", 80, true), expectedEndpoint("10.0.0.5", "e", 80, true)},
		},
		"fallback counts over all slices": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(80), newEndpoint("10.0.0.2", "b", draining)), newSlice(v4, webPort(81), newEndpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{expectedEndpoint("10.0.0.1", "a", 81, false)},
		},
		"fallback is per node for Local": {
			local: true,
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(80),
				newEndpoint("10.0.0.1", "a", isReady), newEndpoint("10.0.0.2", "a", draining), newEndpoint("10.0.0.3", "b", draining), newEndpoint("10.0.0.4", "c", notReady))},
			want: []Endpoint{expectedEndpoint("10.0.0.1", "a", 80, false), expectedEndpoint("10.0.0.3", "b", 80, true)},
		},
		"families are apart": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v6, webPort(80), newEndpoint("2001:DB8::1", "a", draining)), newSlice(v4, webPort(80), newEndpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{expectedEndpoint("10.0.0.1", "a", 80, false)},
			want6:  []Endpoint{expectedEndpoint("2001:db8::1", "a", 80, true)},
		},
		"twice for a moment": {
			slices: []*discoveryv1.EndpointSlice{
				newSlice(v4, webPort(80), newEndpoint("10.0.0.1", "", draining), newEndpoint("10.0.0.2", "", isReady), newEndpoint("10.0.0.3", "c", draining)),
				newSlice(v4, webPort(80), newEndpoint("10.0.0.1", "a", isReady), newEndpoint("10.0.0.2", "b", isReady), newEndpoint("10.0.0.3", "", isReady)),
			},
			want: []Endpoint{expectedEndpoint("10.0.0.1", "a", 80, false), expectedEndpoint("10.0.0.2", "b", 80, false), expectedEndpoint("10.0.0.3", "", 80, false)},
		},
		"a named target port differs between pods": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(8080), newEndpoint("10.0.0.2", "a", isReady)), newSlice(v4, webPort(9090), newEndpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{expectedEndpoint("10.0.0.1", "a", 9090, false), expectedEndpoint("10.0.0.2", "a", 8080, false)},
		},
		"other ports, protocols and numberless ports": {
			slices: []*discoveryv1.EndpointSlice{
				newSlice(v4, []discoveryv1.EndpointPort{tcpPort("admin", 81)}, newEndpoint("10.0.0.1", "a", isReady)),
				newSlice(v4, []discoveryv1.EndpointPort{{Name: pointerTo("web"), Port: pointerTo(int32(82)), Protocol: pointerTo(corev1.ProtocolUDP)}}, newEndpoint("10.0.0.2", "a", isReady)),
				newSlice(v4, []discoveryv1.EndpointPort{{Name: pointerTo("web")}}, newEndpoint("10.0.0.3", "a", isReady)),
				newSlice(v4, []discoveryv1.EndpointPort{{Name: pointerTo("web"), Port: pointerTo(int32(83))}}, newEndpoint("10.0.0.4", "a", isReady)),
			},
			want: []Endpoint{expectedEndpoint("10.0.0.4", "a", 83, false)},
		},
		"what is no address": {
			slices: []*discoveryv1.EndpointSlice{newSlice(v4, webPort(80), discoveryv1.Endpoint{}, newEndpoint("bogus", "a", isReady), newEndpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{expectedEndpoint("10.0.0.1", "a", 80, false)},
		},
		"FQDN": {
			slices: []*discoveryv1.EndpointSlice{newSlice(discoveryv1.AddressTypeFQDN, webPort(80), newEndpoint("a.example", "a", isReady))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newService(corev1.ServiceSpec{
				IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol},
				Ports:      []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromString("http")}},
			})
			if tc.local {
				svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
			}
			e := EndpointsOf(Families(svc), Ports(svc), tc.slices, FallbackOf(svc))
			if diff := cmp.Diff(tc.want, e.For(corev1.IPv4Protocol, "web"), byValue, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("IPv4 (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want6, e.For(corev1.IPv6Protocol, "web"), byValue, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("IPv6 (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHosts: a node with an endpoint that is not terminating is a host, ready or not,
// regardless of its ports; and the digest changes with the hosts.
func TestHosts(t *testing.T) {
	v4, v6 := discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6
	svc := &corev1.Service{Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Name: "web", Port: 80, Protocol: corev1.ProtocolTCP}}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
	}}
	list := []*discoveryv1.EndpointSlice{
		newSlice(v4, webPort(80), newEndpoint("10.0.0.1", "a", isReady), newEndpoint("10.0.0.2", "c", notReady), newEndpoint("10.0.0.3", "d", draining), newEndpoint("10.0.0.4", "e", dying)),
		newSlice(v6, nil, newEndpoint("fd00::2", "b", unset), newEndpoint("fd00::3", "", isReady), newEndpoint("fd00::4", "a", notReady)),
	}
	b := BackendsOf(svc, NodeSet{}, list, FallbackPerNode)
	if d := cmp.Diff([]string{"a", "b", "c"}, b.Endpoints.Hosts); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	list[0].Endpoints = list[0].Endpoints[:1]
	if after := BackendsOf(svc, NodeSet{}, list[:1], FallbackPerNode); after.Digest() == b.Digest() {
		t.Error("the digest is the same without an unready endpoint")
	}
}

func TestEndpointsShape(t *testing.T) {
	svc := newService(corev1.ServiceSpec{
		IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol},
		Ports:      []corev1.ServicePort{{Name: "b", Port: 2}, {Name: "a", Port: 1}},
	})
	e := EndpointsOf(Families(svc), Ports(svc), []*discoveryv1.EndpointSlice{
		newSlice(discoveryv1.AddressTypeFQDN, nil),
		newSlice(discoveryv1.AddressTypeIPv4, []discoveryv1.EndpointPort{tcpPort("a", 1), tcpPort("b", 2)}, newEndpoint("10.0.0.2", "y", isReady), newEndpoint("10.0.0.1", "x", isReady), newEndpoint("10.0.0.3", "", isReady)),
	}, FallbackPerService)
	var order []string
	for _, p := range e.ByPort {
		order = append(order, fmt.Sprintf("%s %s %d", p.Family, p.Port.Name, len(p.List)))
	}
	if diff := cmp.Diff([]string{"IPv6 b 0", "IPv6 a 0", "IPv4 b 3", "IPv4 a 3"}, order); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x", "y"}, e.Nodes()); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"s-FQDN"}, e.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if e.For(corev1.IPv4Protocol, "c") != nil {
		t.Error("found endpoints of a port that does not exist")
	}
}

// TestKeptEndpoints: fallbacks keep terminating endpoints, or every unready one, beside ready ones.
func TestKeptEndpoints(t *testing.T) {
	svc := newService(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}}})
	all := newSlice(discoveryv1.AddressTypeIPv4, webPort(80), newEndpoint("10.0.0.1", "a", isReady), newEndpoint("10.0.0.2", "b", draining), newEndpoint("10.0.0.3", "c", notReady), newEndpoint("10.0.0.4", "d", dying))
	for fallback, want := range map[Fallback][]bool{FallbackPerService: {false}, KeepTerminating: {false, true}, KeepUnready: {false, true, true, true}} {
		var got []bool
		for _, e := range EndpointsOf(Families(svc), Ports(svc), []*discoveryv1.EndpointSlice{all}, fallback).For(corev1.IPv4Protocol, "web") {
			got = append(got, e.Terminating)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("fallback %d (-want +got):\n%s", fallback, diff)
		}
	}
}

func TestUnnamedPort(t *testing.T) {
	svc := newService(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}})
	for name, port := range map[string]discoveryv1.EndpointPort{
		"empty name": {Name: pointerTo(""), Port: pointerTo(int32(80))},
		"no name":    {Port: pointerTo(int32(80))},
	} {
		s := newSlice(discoveryv1.AddressTypeIPv4, []discoveryv1.EndpointPort{port}, newEndpoint("10.0.0.1", "a", isReady))
		if n := len(EndpointsOf(Families(svc), Ports(svc), []*discoveryv1.EndpointSlice{s}, FallbackPerService).For(corev1.IPv4Protocol, "")); n != 1 {
			t.Errorf("%s: want 1 endpoint, got %d", name, n)
		}
	}
}

func TestBackendsIgnoreOrder(t *testing.T) {
	svc := newService(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80, NodePort: 30080}}})
	nodes := []Node{newNode("a"), newNode("b"), newNode("c", noID)}
	states := []state{isReady, draining, notReady, unset}
	var all []*discoveryv1.EndpointSlice
	for i := range 6 {
		s := newSlice(discoveryv1.AddressTypeIPv4, webPort(int32(80+i%2)))
		for j := range 10 {
			s.Endpoints = append(s.Endpoints, newEndpoint(fmt.Sprintf("10.0.0.%d", (i*7+j)%40), fmt.Sprintf("n%d", i), states[(i+j)%4]))
		}
		all = append(all, s)
	}
	want := BackendsOf(svc, Select(nodes, Filter{}), all, FallbackOf(svc))
	rnd := rand.New(rand.NewSource(1))
	for range 50 {
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		rnd.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		for _, s := range all {
			rnd.Shuffle(len(s.Endpoints), func(i, j int) { s.Endpoints[i], s.Endpoints[j] = s.Endpoints[j], s.Endpoints[i] })
		}
		now := BackendsOf(svc, Select(nodes, Filter{}), all, FallbackOf(svc))
		if diff := cmp.Diff(want, now, byValue); diff != "" || want.Digest() != now.Digest() {
			t.Fatalf("order matters (-want +got):\n%s", diff)
		}
	}
}

func TestBackendsDigest(t *testing.T) {
	build := func(change func(*corev1.Service, *discoveryv1.EndpointSlice, *[]Node)) Backends {
		svc := newService(corev1.ServiceSpec{
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: 31000,
			Ports: []corev1.ServicePort{{Name: "web", Port: 80, NodePort: 30080}},
		})
		s := newSlice(discoveryv1.AddressTypeIPv4, webPort(80), newEndpoint("10.0.0.1", "a", isReady))
		nodes := []Node{newNode("a"), newNode("b", noID)}
		change(svc, s, &nodes)
		return BackendsOf(svc, Select(nodes, Filter{}), []*discoveryv1.EndpointSlice{s}, FallbackOf(svc))
	}
	type change = func(*corev1.Service, *discoveryv1.EndpointSlice, *[]Node)
	base := build(func(*corev1.Service, *discoveryv1.EndpointSlice, *[]Node) {})
	if diff := cmp.Diff([]string{"b"}, base.Pending); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	for name, c := range map[string]change{
		"foreign annotation": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Annotations = map[string]string{"a": "b"}
		},
		"one more pending": func(_ *corev1.Service, _ *discoveryv1.EndpointSlice, n *[]Node) {
			*n = append(*n, newNode("c", noID))
		},
		"one not ready": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Endpoints = append(s.Endpoints, newEndpoint("10.0.0.9", "a", notReady))
		},
	} {
		if base.Digest() != build(c).Digest() {
			t.Errorf("%s: want the same digest", name)
		}
	}
	seen := map[string]string{base.Digest(): "base"}
	for name, c := range map[string]change{
		"node":        func(_ *corev1.Service, _ *discoveryv1.EndpointSlice, n *[]Node) { *n = append(*n, newNode("c")) },
		"port":        func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) { s.Spec.Ports[0].Port = 81 },
		"node port":   func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) { s.Spec.Ports[0].NodePort = 0 },
		"health port": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) { s.Spec.HealthCheckNodePort = 1 },
		"policy": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
		},
		"target port": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Spec.Ports[0].TargetPort = intstr.FromString("80")
		},
		"app protocol": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Spec.Ports[0].AppProtocol = pointerTo("x")
		},
		"families": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
		},
		"endpoint gone": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) { s.Endpoints = nil },
		"endpoint moved": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Endpoints[0] = newEndpoint("10.0.0.1", "b", isReady)
		},
		"endpoint ending": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Endpoints[0] = newEndpoint("10.0.0.1", "a", draining)
		},
		"endpoint port": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) { s.Ports = webPort(81) },
	} {
		d := build(c).Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
}
