package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Outputs are the annotations that Status writes.
func Outputs() providers.Outputs {
	return providers.Outputs{Annotations: []string{idKey.Name, addressKey.Name}}
}

// Addresses says where clients reach the Service: at the floating IP, else at the
// address in the network. A load balancer in ERROR may serve clients still, and keeps
// its address.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (createLoadBalancerStatus).
func Addresses(in Input, have *stack.Stack) status.Result {
	lb, ok := have.Get(balancerKey())
	spec, _ := lb.Spec.(Balancer)
	if !ok || spec.Address == "" || isForeign(lb) {
		return status.Result{}
	}
	address := boundAddress(have)
	if address == "" {
		if getsFloating(in) {
			return status.Result{Annotations: map[string]string{idKey.Name: lb.ID}} // a floating IP is still to come
		}
		address = spec.Address
	}
	result := status.Result{Annotations: map[string]string{idKey.Name: lb.ID, addressKey.Name: address}}
	switch host := hostnameKey.Get(in.Values); {
	case host != "":
		result.Ingress = []corev1.LoadBalancerIngress{status.Hostname(host)}
	case usesProxyProtocol(in) && in.Config.IngressHostname:
		result.Ingress = []corev1.LoadBalancerIngress{status.Hostname(address + "." + in.Config.IngressHostnameSuffix)}
	case usesProxyProtocol(in):
		result.Ingress = []corev1.LoadBalancerIngress{status.IP(address, corev1.LoadBalancerIPModeProxy)}
	default:
		result.Ingress = []corev1.LoadBalancerIngress{status.IP(address, corev1.LoadBalancerIPModeVIP)}
	}
	return result
}

// boundAddress returns the floating IP of the Service's load balancer; empty if there is none.
func boundAddress(have *stack.Stack) (address string) {
	for _, kind := range []stack.Kind{KindFloatingIP, KindBinding} {
		for _, r := range have.Of(kind) {
			if ip := floatingAddress(r); ip != "" && r.Key.Name == "" && (r.Proof != stack.None || r.Ownership == stack.External) {
				address = ip
			}
		}
	}
	return address
}

// getsFloating reports whether the Service is certain to get a floating IP.
func getsFloating(in Input) bool {
	return !isInternal(in) && !ipv6(in) && (floatingPlace(in).network != "" || in.Service.Spec.LoadBalancerIP != "")
}

func floatingAddress(r stack.Resource) string {
	switch spec := r.Spec.(type) {
	case FloatingIP:
		return spec.Address
	case Binding:
		return spec.Address
	}
	return ""
}
