package harness

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReadyPods returns an EndpointSlice of a Service with ready pods at IPv4 addresses. manager
// is the value of its managed-by label.
func ReadyPods(svc corev1.Service, name, manager string, addresses []string) *discoveryv1.EndpointSlice {
	ready, tcp := true, corev1.ProtocolTCP
	out := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: svc.Namespace, Name: name,
			Labels: map[string]string{discoveryv1.LabelServiceName: svc.Name, discoveryv1.LabelManagedBy: manager},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for _, port := range svc.Spec.Ports {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &port.Name, Protocol: &tcp, Port: &port.TargetPort.IntVal})
	}
	for _, address := range addresses {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready},
		})
	}
	return out
}
