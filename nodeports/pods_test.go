package nodeports

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOwnPods: an address that no pod of the namespace has is left out, as is one that is
// said to be on another node than its pod; what was passed stays as it is.
func TestOwnPods(t *testing.T) {
	endpoint := func(addr, node string) discoveryv1.Endpoint {
		e := discoveryv1.Endpoint{Addresses: []string{addr}}
		if node != "" {
			e.NodeName = &node
		}
		return e
	}
	number := int32(8080)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Port: &number}},
		Endpoints: []discoveryv1.Endpoint{
			endpoint("10.0.0.1", "a"), endpoint("10.0.0.2", ""), endpoint("10.0.9.9", "a"), endpoint("10.0.0.1", "b"), endpoint("169.254.169.254", ""), {},
		},
	}
	untouched := slice.DeepCopy()
	pods := map[string]string{"10.0.0.1": "a", "10.0.0.2": "b"}
	kept, unmatched := OwnPods([]*discoveryv1.EndpointSlice{slice}, func(addr netip.Addr, node string) bool {
		on, there := pods[addr.String()]
		return there && (node == "" || node == on)
	})
	want := []string{"10.0.0.1", "10.0.0.2"}
	var got []string
	for _, e := range kept[0].Endpoints {
		if len(e.Addresses) > 0 {
			got = append(got, e.Addresses[0])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("kept (-want +got):\n%s", d)
	}
	var left []string
	for _, a := range unmatched {
		left = append(left, a.String())
	}
	if d := cmp.Diff([]string{"10.0.0.1", "10.0.9.9", "169.254.169.254"}, left); d != "" {
		t.Errorf("left out (-want +got):\n%s", d)
	}
	if d := cmp.Diff(untouched, slice); d != "" {
		t.Errorf("the slice of the informer was written to:\n%s", d)
	}
	svc := &corev1.Service{}
	svc.Spec.IPFamilies, svc.Spec.Ports = []corev1.IPFamily{corev1.IPv4Protocol}, []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	if n := len(EndpointsOf(Families(svc), Ports(svc), kept, FallbackPerService).ByPort[0].List); n != 2 {
		t.Errorf("%d endpoints get traffic, want 2", n)
	}
}

// TestOnNodes: only endpoints on the nodes remain, a slice without any is left out, and what was passed stays as it is.
func TestOnNodes(t *testing.T) {
	slice := func(name string, nodes ...string) *discoveryv1.EndpointSlice {
		s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for i := range nodes {
			s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{NodeName: &nodes[i]})
		}
		return s
	}
	all := []*discoveryv1.EndpointSlice{slice("mixed", "a", "virtual", "b"), slice("other", "a", "b")}
	untouched := []*discoveryv1.EndpointSlice{all[0].DeepCopy(), all[1].DeepCopy()}
	nodes := Select([]Node{{Name: "virtual"}}, Filter{Everyone: true})
	if d := cmp.Diff([]*discoveryv1.EndpointSlice{slice("mixed", "virtual")}, OnNodes(all, nodes)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := OnNodes(all, NodeSet{}); len(got) > 0 {
		t.Errorf("without nodes: %v", got)
	}
	if d := cmp.Diff(untouched, all); d != "" {
		t.Errorf("the slices of the informer were written to:\n%s", d)
	}
}
