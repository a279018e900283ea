package offline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func serviceOf(name string, ports ...corev1.ServicePort) *corev1.Service {
	svc := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: ports}}
	svc.Namespace, svc.Name = "shop", name
	setDefaults(svc)
	return svc
}

func TestNodePorts(t *testing.T) {
	udp := corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP}
	tcp := corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolTCP}
	given := corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolTCP, NodePort: 30053}
	alone := newNodePorts(nil)
	first := serviceOf("a", udp)
	alone.assign(first)
	usual := first.Spec.Ports[0].NodePort
	for name, c := range map[string]struct {
		ports []corev1.ServicePort
		taken []corev1.ServicePort
		want  []int32
	}{
		"the same every time":                 {[]corev1.ServicePort{udp}, nil, []int32{usual}},
		"two protocols share":                 {[]corev1.ServicePort{udp, tcp}, nil, []int32{usual, usual}},
		"a given one is shared":               {[]corev1.ServicePort{udp, given}, nil, []int32{30053, 30053}},
		"what another one has is passed over": {[]corev1.ServicePort{udp}, []corev1.ServicePort{{Port: 1, NodePort: usual}}, []int32{usual + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNodePorts([]*corev1.Service{serviceOf("other", c.taken...)})
			svc := serviceOf("a", c.ports...)
			n.take(svc)
			n.assign(svc)
			var got []int32
			for _, p := range svc.Spec.Ports {
				got = append(got, p.NodePort)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoNodePortLeft: if every port is used, none is assigned, rather than one in use.
func TestNoNodePortLeft(t *testing.T) {
	n := newNodePorts(nil)
	for range lastNodePort - firstNodePort + 1 {
		if port := n.free("x"); port < firstNodePort || port > lastNodePort {
			t.Fatalf("port %d", port)
		}
	}
	if port := n.free("x"); port != 0 {
		t.Errorf("want none, got %d", port)
	}
}
