package azure_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// podded is a simulated Azure whose load balancers send to pods: to the first two of
// every node but the last.
type podded struct{ subject }

// Slices are the endpoints of a Service.
func (p podded) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	nodes := p.running.Cloud.Seed.Nodes
	out := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, port := range svc.Spec.Ports {
		number := port.TargetPort.IntVal
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &port.Name, Port: &number, Protocol: &port.Protocol})
	}
	for _, n := range nodes[:len(nodes)-1] {
		for _, pod := range n.Pods[:2] {
			out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod}, NodeName: &n.Name})
		}
	}
	return []*discoveryv1.EndpointSlice{out}
}

// TestPropertiesPods has pools of pods.
func TestPropertiesPods(t *testing.T) {
	login(t)
	make1 := fresh(simazure.SeedOptions{Nodes: 3, Pools: simazure.PodIP})
	targets := func(s *corev1.ServiceSpec) {
		for i := range s.Ports {
			s.Ports[i].TargetPort = intstr.FromInt32(8080 + int32(i))
		}
	}
	props.Run(t, func(t testing.TB) props.Subject {
		s, _ := make1(t).(subject)
		return podded{s}
	}, []props.Case{
		service("tcp", map[string]string{"load-balancer-tcp-idle-timeout": "10"}, targets),
		service("udp-local", nil, func(s *corev1.ServiceSpec) { targets(s); udp(s); local(s) }),
		service("other-ports", nil, func(s *corev1.ServiceSpec) { targets(s); s.Ports = s.Ports[1:]; s.Ports[0].Port = 8443 }),
	})
}
