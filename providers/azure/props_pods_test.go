package azure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
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

func freshPods(t testing.TB) props.Subject {
	s, _ := newSubject(simazure.SeedOptions{Nodes: 3, Pools: simazure.PodIP})(t).(subject)
	s.SetRole(t, props.Role(t, "azure-pods.json"))
	return podded{s}
}

// setTargetPorts gives ports their target ports.
func setTargetPorts(s *corev1.ServiceSpec) {
	for i := range s.Ports {
		s.Ports[i].TargetPort = intstr.FromInt32(8080 + int32(i))
	}
}

func podCases() []props.Case {
	return []props.Case{
		serviceCase("tcp", map[string]string{"load-balancer-tcp-idle-timeout": "10"}, setTargetPorts),
		serviceCase("udp-local", nil, func(s *corev1.ServiceSpec) { setTargetPorts(s); props.UDP(s); props.Local(s) }),
		serviceCase("other-ports", nil, func(s *corev1.ServiceSpec) { setTargetPorts(s); s.Ports = s.Ports[1:]; s.Ports[0].Port = 8443 }),
	}
}

// TestPropertiesPods has pools of pods.
func TestPropertiesPods(t *testing.T) {
	props.Run(t, freshPods, podCases())
}

// TestPermissionsPods holds docs/permissions/azure-pods.json against what is called.
func TestPermissionsPods(t *testing.T) {
	permissions.Check(t, permissions.AzurePods(), permissions.Walk{Fresh: freshPods, Cases: podCases()})
}

// TestPodsFollowed verifies that added and removed pods cost one read and one write of
// their locations, and nothing where no Service sends to them.
func TestPodsFollowed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s, _ := freshPods(t).(podded)
		r := reconcile.New(s.Open(t), reconcile.Options{})
		r.SetNodes(s.Nodes())
		r.AllKnown()
		svc := podCases()[0].Service
		work := func(slices []*discoveryv1.EndpointSlice) reconcile.Result {
			d, err := r.Draft(t.Context(), reconcile.Job{Service: svc, Slices: slices})
			if err != nil {
				t.Fatal(err)
			}
			return r.Run(t.Context(), d, nil)
		}
		all := s.Slices(svc)
		for range 6 {
			work(all)
		}
		ending := all[0].DeepCopy()
		ready, serving := false, true
		ending.Endpoints[0].Conditions = discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &serving}
		s.Control().Journal.Reset()
		if res := work([]*discoveryv1.EndpointSlice{ending}); res.Err != nil || !res.Clean {
			t.Errorf("clean %t, %v", res.Clean, res.Err)
		}
		want := map[string]int{"network.ServiceGateways.GetAddressLocations": 1, "network.ServiceGateways.UpdateAddressLocations": 1}
		if d := cmp.Diff(want, s.Control().Journal.Counts()); d != "" {
			t.Errorf("calls for a pod that ends (-want +got):\n%s", d)
		}
		gone := ending.DeepCopy()
		gone.Endpoints = gone.Endpoints[1:]
		s.Control().Journal.Reset()
		if res := work([]*discoveryv1.EndpointSlice{gone}); res.Err != nil || !res.Clean || len(s.Control().Journal.Counts()) > 0 {
			t.Errorf("calls for a pod that has ended before: %v, clean %t, %v", s.Control().Journal.Counts(), res.Clean, res.Err)
		}
	})
}
