package account

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
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
