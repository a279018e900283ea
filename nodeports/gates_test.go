package nodeports

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWaitsOnly: a pod counts while nothing but gates of the cloud are closed.
func TestWaitsOnly(t *testing.T) {
	ours := func(conditionType string) bool { return strings.HasPrefix(conditionType, "example.com/") }
	pod := func(gates []string, open ...string) *corev1.Pod {
		p := &corev1.Pod{}
		for _, g := range gates {
			p.Spec.ReadinessGates = append(p.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(g)})
		}
		for _, o := range open {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(o), Status: corev1.ConditionTrue})
		}
		return p
	}
	ending := pod([]string{"example.com/web"}, "ContainersReady")
	ending.DeletionTimestamp = &metav1.Time{}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"gate closed":           {pod([]string{"example.com/web"}, "ContainersReady"), true},
		"gate open":             {pod([]string{"example.com/web"}, "ContainersReady", "example.com/web"), true},
		"no gate":               {pod(nil, "ContainersReady"), false},
		"containers not ready":  {pod([]string{"example.com/web"}), false},
		"another's gate closed": {pod([]string{"example.com/web", "other.io/gate"}, "ContainersReady"), false},
		"another's gate open":   {pod([]string{"example.com/web", "other.io/gate"}, "ContainersReady", "other.io/gate"), true},
		"it ends":               {ending, false},
	} {
		if got := WaitsOnly(c.pod, ours); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestAwait: an endpoint that waits for its load balancer gets traffic, one that is not
// ready for another reason or that ends gets none, and what was passed stays as it is.
func TestAwait(t *testing.T) {
	yes, no, number := true, false, int32(8080)
	endpoint := func(addr string, ready, terminating *bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{Addresses: []string{addr}, Conditions: discoveryv1.EndpointConditions{Ready: ready, Serving: ready, Terminating: terminating}}
	}
	slice := &discoveryv1.EndpointSlice{
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Port: &number}},
		Endpoints: []discoveryv1.Endpoint{
			endpoint("10.0.0.1", &yes, nil), endpoint("10.0.0.2", &no, nil), endpoint("10.0.0.3", &no, nil), endpoint("10.0.0.4", &no, &yes), {},
		},
	}
	untouched := slice.DeepCopy()
	waits := func(addr netip.Addr, _ string) bool { return addr.String() != "10.0.0.3" }
	svc := &corev1.Service{}
	svc.Spec.IPFamilies, svc.Spec.Ports = []corev1.IPFamily{corev1.IPv4Protocol}, []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	var got []string
	for _, e := range EndpointsOf(Families(svc), Ports(svc), Await([]*discoveryv1.EndpointSlice{slice}, waits), FallbackPerService).ByPort[0].List {
		got = append(got, e.Addr.String())
	}
	if d := cmp.Diff([]string{"10.0.0.1", "10.0.0.2"}, got); d != "" {
		t.Errorf("traffic (-want +got):\n%s", d)
	}
	if d := cmp.Diff(untouched, slice); d != "" {
		t.Errorf("the slice of the informer was written to:\n%s", d)
	}
}
