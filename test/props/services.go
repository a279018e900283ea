package props

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/nodeports"
)

// Service is a case with two ports, as the API server would have completed it. A
// change may be nil.
func Service(name string, annotations map[string]string, changes ...func(*corev1.ServiceSpec)) Case {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "5a0c1f6e-0000-4000-8000-000000000001", Annotations: annotations},
		Spec: corev1.ServiceSpec{
			Type:                  corev1.ServiceTypeLoadBalancer,
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster,
			SessionAffinity:       corev1.ServiceAffinityNone,
			IPFamilies:            []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{
				{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080},
				{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: 30443},
			},
		},
	}
	for _, change := range changes {
		if change != nil {
			change(&svc.Spec)
		}
	}
	return Case{Name: name, Service: svc}
}

// PortChanges are cases that differ from a plain one in their ports alone.
func PortChanges(annotations map[string]string) []Case {
	return []Case{
		Service("other ports", annotations, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }),
		Service("other node port", annotations, func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		Service("one port", annotations, func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }),
	}
}

// Prefixed puts a prefix before every key.
func Prefixed(prefix string, annotations map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range annotations {
		out[prefix+k] = v
	}
	return out
}

// Local has the traffic policy Local.
func Local(s *corev1.ServiceSpec) {
	s.ExternalTrafficPolicy, s.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
}

// UDP has no port of another protocol.
func UDP(s *corev1.ServiceSpec) {
	for i := range s.Ports {
		s.Ports[i].Protocol = corev1.ProtocolUDP
	}
}

// Dual has both families.
func Dual(s *corev1.ServiceSpec) {
	s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
}

// Project are the Nodes of a seed, as Subject.Nodes gives them.
func Project(nodes []corev1.Node) []nodeports.Node {
	var out []nodeports.Node
	for i := range nodes {
		out = append(out, nodeports.Project(&nodes[i], func(string) bool { return true }))
	}
	return out
}
