package props

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// foreignPod is an address that no node and no load balancer has.
const foreignPod = "203.0.113.77"

// NodesOnly checks that load balancers send to nodes, independent of EndpointSlices: if one
// names the address of a foreign pod, on a node of the cluster or on none, that address
// appears nowhere in the cloud.
func NodesOnly(t *testing.T, fresh New, cases []Case) {
	t.Helper()
	for _, c := range cases {
		runVirtual(t, c.Name, func(t *testing.T) {
			s := byHand{fresh(t)}
			before := cloudState(t, s)
			startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
			switch after := cloudState(t, s); {
			case after == before:
				t.Error("nothing was made")
			case strings.Contains(after, foreignPod):
				t.Errorf("the address %s of an EndpointSlice written by hand is in the cloud", foreignPod)
			}
		})
	}
}

// byHand is a subject in which every Service has an EndpointSlice that names a pod of another
// Service on each node, and on a node that does not exist.
type byHand struct{ Subject }

func (s byHand) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	out := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	out.Namespace, out.Name = svc.Namespace, svc.Name+"-by-hand"
	out.Labels = map[string]string{discoveryv1.LabelServiceName: svc.Name}
	for _, port := range svc.Spec.Ports {
		number := int32(8080)
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &port.Name, Port: &number})
	}
	names := []string{"nowhere"}
	for _, n := range s.Nodes() {
		names = append(names, n.Name)
	}
	for _, name := range names {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{Addresses: []string{foreignPod}, NodeName: &name})
	}
	return []*discoveryv1.EndpointSlice{out}
}
