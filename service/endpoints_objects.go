package service

import (
	"context"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers"
)

// readSlices reads the EndpointSlices of a name.
func readSlices(ctx context.Context, client kubernetes.Interface, ref providers.Reference) (out []*discoveryv1.EndpointSlice, err error) {
	of := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: ref.Name}).String()
	list, err := client.DiscoveryV1().EndpointSlices(ref.Namespace).List(ctx, metav1.ListOptions{LabelSelector: of})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}

// readEndpoints reads the EndpointSlices of a name, or its Endpoints if there are none.
func readEndpoints(ctx context.Context, client kubernetes.Interface, ref providers.Reference) (providers.Object, error) {
	found, err := readSlices(ctx, client, ref)
	if err != nil || len(found) > 0 {
		return providers.Object{Slices: found}, err
	}
	plain, err := client.CoreV1().Endpoints(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return providers.Object{}, err
	}
	return providers.Object{Slices: slicesOf(plain)}, nil
}

// slicesOf returns Endpoints as EndpointSlices, one for each subset and address family; never nil.
func slicesOf(object any) []*discoveryv1.EndpointSlice {
	out := []*discoveryv1.EndpointSlice{}
	plain, ok := object.(*corev1.Endpoints) //nolint:staticcheck // EndpointSlices count first; some programs still write Endpoints alone
	if !ok {
		return out
	}
	for i, subset := range plain.Subsets {
		for _, family := range []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6} {
			s := &discoveryv1.EndpointSlice{AddressType: family}
			s.Namespace, s.Name = plain.Namespace, plain.Name+"-"+strconv.Itoa(i)
			for _, p := range subset.Ports {
				s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: &p.Name, Protocol: &p.Protocol, Port: &p.Port})
			}
			for _, a := range subset.Addresses {
				addEndpoint(s, a.IP, a.NodeName, a.TargetRef, true)
			}
			for _, a := range subset.NotReadyAddresses {
				addEndpoint(s, a.IP, a.NodeName, a.TargetRef, false)
			}
			if len(s.Endpoints) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// addEndpoint adds an address to a slice of its family.
func addEndpoint(s *discoveryv1.EndpointSlice, address string, node *string, of *corev1.ObjectReference, ready bool) {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Is4() != (s.AddressType == discoveryv1.AddressTypeIPv4) {
		return
	}
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
		Addresses: []string{address}, NodeName: node, TargetRef: of, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready},
	})
}
