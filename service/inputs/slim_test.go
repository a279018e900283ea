package inputs

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
)

// fullSlice is a slice as Kubernetes writes it where traffic keeps to zones.
func fullSlice(n int) *discoveryv1.EndpointSlice {
	out := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprint("web-", n), Labels: map[string]string{discoveryv1.LabelServiceName: "web"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Service", Name: "web"}},
		},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(8080))}},
	}
	for i := range 100 {
		zone := fmt.Sprint("eu-west-1", string(rune('a'+i%3)))
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{fmt.Sprintf("10.0.%d.%d", n%250, i)}, NodeName: new(fmt.Sprintf("ip-10-0-0-%d.eu-west-1.compute.internal", i%20)), Zone: &zone,
			Conditions: discoveryv1.EndpointConditions{Ready: new(i%10 != 0), Serving: new(true), Terminating: new(i%10 == 0)},
			Hints:      &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: zone}}},
			TargetRef: &corev1.ObjectReference{
				Kind: "Pod", Namespace: "shop", Name: fmt.Sprintf("web-6d4cf56db6-%05d", i), UID: types.UID(fmt.Sprintf("0f1e2d3c-4b5a-6978-8796-%06d%06d", n, i)),
			},
		})
	}
	return out
}

// decodeSlice returns a copy of a slice as the API server sends it, of which no text is
// shared.
func decodeSlice(t *testing.T, s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	t.Helper()
	wire, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	out := &discoveryv1.EndpointSlice{}
	if err := out.Unmarshal(wire); err != nil {
		t.Fatal(err)
	}
	return out
}

func slimCopy(t *testing.T, s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	t.Helper()
	obj, err := slimSlice(s)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok {
		t.Fatalf("a slice becomes a %T", obj)
	}
	return out
}

// TestSlimSlice: of a slice all is kept that backends are made of, in two thirds of its memory.
func TestSlimSlice(t *testing.T) {
	svc := &corev1.Service{Spec: corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80}}}}
	want := nodeports.EndpointsOf(nodeports.Families(svc), nodeports.Ports(svc), []*discoveryv1.EndpointSlice{decodeSlice(t, fullSlice(1))}, nodeports.FallbackPerService)
	got := nodeports.EndpointsOf(nodeports.Families(svc), nodeports.Ports(svc), []*discoveryv1.EndpointSlice{slimCopy(t, decodeSlice(t, fullSlice(1)))}, nodeports.FallbackPerService)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("endpoints (-whole +slim):\n%s", diff)
	}
	const many = 200
	held := func(keep func(*discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice) float64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var all []*discoveryv1.EndpointSlice
		for n := range many {
			all = append(all, keep(decodeSlice(t, fullSlice(n))))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(all)
		return float64(after.HeapAlloc-before.HeapAlloc) / many / 100
	}
	whole := held(func(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice { return s })
	slim := held(func(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice { return slimCopy(t, s) })
	t.Logf("%.0f bytes for each endpoint, of %.0f", slim, whole)
	if slim > whole*2/3 {
		t.Errorf("%.0f bytes for each endpoint are kept of %.0f, want two thirds of them at most", slim, whole)
	}
}
