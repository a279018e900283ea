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
	isReady  = state{ptr(true), ptr(true), ptr(false)}
	notReady = state{ptr(false), ptr(false), ptr(false)}
	draining = state{ptr(false), ptr(true), ptr(true)}
	dying    = state{ptr(false), ptr(false), ptr(true)}
	noServe  = state{ready: ptr(false), terminating: ptr(true)} // serving not set
)

func endpoint(addr, node string, s state) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{
		Addresses:  []string{addr, "203.0.113.99"}, // Only the first address counts.
		Conditions: discoveryv1.EndpointConditions{Ready: s.ready, Serving: s.serving, Terminating: s.terminating},
	}
	if node != "" {
		e.NodeName, e.Zone = ptr(node), ptr("zone-"+node)
	}
	return e
}

func epslice(family discoveryv1.AddressType, ports []discoveryv1.EndpointPort, eps ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "s-" + string(family)}, AddressType: family, Ports: ports, Endpoints: eps}
}

func tcp(name string, port int32) discoveryv1.EndpointPort {
	return discoveryv1.EndpointPort{Name: &name, Port: &port, Protocol: ptr(corev1.ProtocolTCP)}
}

func web(number int32) []discoveryv1.EndpointPort {
	return []discoveryv1.EndpointPort{tcp("web", number)}
}

// got is an endpoint on a node, as the slices of these tests describe it.
func got(addr, node string, port int32, terminating bool) Endpoint {
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
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(8080), endpoint("10.0.0.2", "b", unset), endpoint("10.0.0.1", "", isReady))},
			want:   []Endpoint{got("10.0.0.1", "", 8080, false), got("10.0.0.2", "b", 8080, false)},
		},
		"only ready ones while there are any": {
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(80), endpoint("10.0.0.1", "a", isReady), endpoint("10.0.0.2", "b", draining), endpoint("10.0.0.3", "c", notReady), endpoint("10.0.0.4", "d", dying))},
			want:   []Endpoint{got("10.0.0.1", "a", 80, false)},
		},
		"terminating ones when nobody is ready": {
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(80), endpoint("10.0.0.2", "b", draining), endpoint("10.0.0.3", "c", notReady), endpoint("10.0.0.4", "d", dying), endpoint("10.0.0.5", "e", noServe))},
			want:   []Endpoint{got("10.0.0.2", "b", 80, true), got("10.0.0.5", "e", 80, true)},
		},
		"fallback counts over all slices": {
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(80), endpoint("10.0.0.2", "b", draining)), epslice(v4, web(81), endpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{got("10.0.0.1", "a", 81, false)},
		},
		"fallback is per node for Local": {
			local: true,
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(80),
				endpoint("10.0.0.1", "a", isReady), endpoint("10.0.0.2", "a", draining), endpoint("10.0.0.3", "b", draining), endpoint("10.0.0.4", "c", notReady))},
			want: []Endpoint{got("10.0.0.1", "a", 80, false), got("10.0.0.3", "b", 80, true)},
		},
		"families are apart": {
			slices: []*discoveryv1.EndpointSlice{epslice(v6, web(80), endpoint("2001:DB8::1", "a", draining)), epslice(v4, web(80), endpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{got("10.0.0.1", "a", 80, false)},
			want6:  []Endpoint{got("2001:db8::1", "a", 80, true)},
		},
		"twice for a moment": {
			slices: []*discoveryv1.EndpointSlice{
				epslice(v4, web(80), endpoint("10.0.0.1", "", draining), endpoint("10.0.0.2", "", isReady), endpoint("10.0.0.3", "c", draining)),
				epslice(v4, web(80), endpoint("10.0.0.1", "a", isReady), endpoint("10.0.0.2", "b", isReady), endpoint("10.0.0.3", "", isReady)),
			},
			want: []Endpoint{got("10.0.0.1", "a", 80, false), got("10.0.0.2", "b", 80, false), got("10.0.0.3", "", 80, false)},
		},
		"a named target port differs between pods": {
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(8080), endpoint("10.0.0.2", "a", isReady)), epslice(v4, web(9090), endpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{got("10.0.0.1", "a", 9090, false), got("10.0.0.2", "a", 8080, false)},
		},
		"other ports, protocols and numberless ports": {
			slices: []*discoveryv1.EndpointSlice{
				epslice(v4, []discoveryv1.EndpointPort{tcp("admin", 81)}, endpoint("10.0.0.1", "a", isReady)),
				epslice(v4, []discoveryv1.EndpointPort{{Name: ptr("web"), Port: ptr(int32(82)), Protocol: ptr(corev1.ProtocolUDP)}}, endpoint("10.0.0.2", "a", isReady)),
				epslice(v4, []discoveryv1.EndpointPort{{Name: ptr("web")}}, endpoint("10.0.0.3", "a", isReady)),
				epslice(v4, []discoveryv1.EndpointPort{{Name: ptr("web"), Port: ptr(int32(83))}}, endpoint("10.0.0.4", "a", isReady)),
			},
			want: []Endpoint{got("10.0.0.4", "a", 83, false)},
		},
		"what is no address": {
			slices: []*discoveryv1.EndpointSlice{epslice(v4, web(80), discoveryv1.Endpoint{}, endpoint("bogus", "a", isReady), endpoint("10.0.0.1", "a", isReady))},
			want:   []Endpoint{got("10.0.0.1", "a", 80, false)},
		},
		"FQDN": {
			slices: []*discoveryv1.EndpointSlice{epslice(discoveryv1.AddressTypeFQDN, web(80), endpoint("a.example", "a", isReady))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			svc := service(corev1.ServiceSpec{
				IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol},
				Ports:      []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromString("http")}},
			})
			if tc.local {
				svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
			}
			e := EndpointsOf(svc, tc.slices, FallbackOf(svc))
			if diff := cmp.Diff(tc.want, e.For(corev1.IPv4Protocol, "web"), byValue, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("IPv4 (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want6, e.For(corev1.IPv6Protocol, "web"), byValue, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("IPv6 (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHosts: whoever runs an endpoint that does not end is a host, ready or not,
// whatever its ports are; and the digest tells when they change.
func TestHosts(t *testing.T) {
	v4, v6 := discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6
	svc := &corev1.Service{Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Name: "web", Port: 80, Protocol: corev1.ProtocolTCP}}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
	}}
	list := []*discoveryv1.EndpointSlice{
		epslice(v4, web(80), endpoint("10.0.0.1", "a", isReady), endpoint("10.0.0.2", "c", notReady), endpoint("10.0.0.3", "d", draining), endpoint("10.0.0.4", "e", dying)),
		epslice(v6, nil, endpoint("fd00::2", "b", unset), endpoint("fd00::3", "", isReady), endpoint("fd00::4", "a", notReady)),
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
	svc := service(corev1.ServiceSpec{
		IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol},
		Ports:      []corev1.ServicePort{{Name: "b", Port: 2}, {Name: "a", Port: 1}},
	})
	e := EndpointsOf(svc, []*discoveryv1.EndpointSlice{
		epslice(discoveryv1.AddressTypeFQDN, nil),
		epslice(discoveryv1.AddressTypeIPv4, []discoveryv1.EndpointPort{tcp("a", 1), tcp("b", 2)}, endpoint("10.0.0.2", "y", isReady), endpoint("10.0.0.1", "x", isReady), endpoint("10.0.0.3", "", isReady)),
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

func TestUnnamedPort(t *testing.T) {
	svc := service(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}})
	for name, port := range map[string]discoveryv1.EndpointPort{
		"empty name": {Name: ptr(""), Port: ptr(int32(80))},
		"no name":    {Port: ptr(int32(80))},
	} {
		s := epslice(discoveryv1.AddressTypeIPv4, []discoveryv1.EndpointPort{port}, endpoint("10.0.0.1", "a", isReady))
		if n := len(EndpointsOf(svc, []*discoveryv1.EndpointSlice{s}, FallbackPerService).For(corev1.IPv4Protocol, "")); n != 1 {
			t.Errorf("%s: want 1 endpoint, got %d", name, n)
		}
	}
}

func TestBackendsIgnoreOrder(t *testing.T) {
	svc := service(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80, NodePort: 30080}}})
	nodes := []Node{member("a"), member("b"), member("c", noID)}
	states := []state{isReady, draining, notReady, unset}
	var all []*discoveryv1.EndpointSlice
	for i := range 6 {
		s := epslice(discoveryv1.AddressTypeIPv4, web(int32(80+i%2)))
		for j := range 10 {
			s.Endpoints = append(s.Endpoints, endpoint(fmt.Sprintf("10.0.0.%d", (i*7+j)%40), fmt.Sprintf("n%d", i), states[(i+j)%4]))
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
		svc := service(corev1.ServiceSpec{
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: 31000,
			Ports: []corev1.ServicePort{{Name: "web", Port: 80, NodePort: 30080}},
		})
		s := epslice(discoveryv1.AddressTypeIPv4, web(80), endpoint("10.0.0.1", "a", isReady))
		nodes := []Node{member("a"), member("b", noID)}
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
			*n = append(*n, member("c", noID))
		},
		"one not ready": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Endpoints = append(s.Endpoints, endpoint("10.0.0.9", "a", notReady))
		},
	} {
		if base.Digest() != build(c).Digest() {
			t.Errorf("%s: want the same digest", name)
		}
	}
	seen := map[string]string{base.Digest(): "base"}
	for name, c := range map[string]change{
		"node":        func(_ *corev1.Service, _ *discoveryv1.EndpointSlice, n *[]Node) { *n = append(*n, member("c")) },
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
			s.Spec.Ports[0].AppProtocol = ptr("x")
		},
		"families": func(s *corev1.Service, _ *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
		},
		"endpoint gone": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) { s.Endpoints = nil },
		"endpoint moved": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Endpoints[0] = endpoint("10.0.0.1", "b", isReady)
		},
		"endpoint ending": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) {
			s.Endpoints[0] = endpoint("10.0.0.1", "a", draining)
		},
		"endpoint port": func(_ *corev1.Service, s *discoveryv1.EndpointSlice, _ *[]Node) { s.Ports = web(81) },
	} {
		d := build(c).Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
}
