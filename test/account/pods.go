package account

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// PodSlice returns the endpoints of a Service, one for each address, on the nodes in turn.
func PodSlice(svc *corev1.Service, nodes []nodeports.Node, addresses ...string) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	if strings.Contains(addresses[0], ":") {
		slice.AddressType = discoveryv1.AddressTypeIPv6
	}
	for _, p := range svc.Spec.Ports {
		target := int32(p.TargetPort.IntValue())
		if target == 0 {
			target = p.Port
		}
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &p.Name, Protocol: &p.Protocol, Port: &target})
	}
	for i, address := range addresses {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{address}, NodeName: &nodes[i%len(nodes)].Name, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: fmt.Sprint("pod-", i), UID: types.UID(fmt.Sprint("uid-", i))},
		})
	}
	return slice
}

// PodsFollow serves a Service whose load balancer sends to pods, all but the first of some addresses. A new process
// finds it with annotations that cannot be applied: what exists stays, and follows the pods, of which the last
// one is deleted and the first one is new.
func (c Cloud[O, S]) PodsFollow(t *testing.T, opt O, svc *corev1.Service, wrong map[string]string, pods ...string) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		w := c.Begin(t, opt)
		w.Slices = []*discoveryv1.EndpointSlice{PodSlice(svc, w.Machines, pods[1:]...)}
		w.Serve(svc)
		before := w.Sim.Forwards()
		svc.Annotations = mergeMaps(svc.Annotations, wrong)
		w.Restart(svc)
		w.Slices = []*discoveryv1.EndpointSlice{PodSlice(svc, w.Machines, pods[:len(pods)-1]...)}
		for _, f := range w.refuse(svc, before) {
			to := strings.Join(f.To, " ") + ":"
			if len(f.To) != len(pods)-1 || !strings.Contains(to, pods[0]+":") || strings.Contains(to, pods[len(pods)-1]+":") {
				t.Errorf("the pods are %v, and %v", pods[:len(pods)-1], f)
			}
		}
	})
}
