package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Addresses says where clients reach the Service: at all addresses of the load balancer.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer.go
// (loadBalancerToStatus).
func Addresses(in Input, have *stack.Stack) status.Result {
	r, ok := have.Get(productOf(in.Kind).key())
	spec, is := r.Spec.(Balancer)
	if !ok || !is || r.State == stack.Failed {
		return status.Result{}
	}
	var out status.Result
	for _, a := range spec.Addresses {
		if in.Kind == NLB && !a.Public && !spec.Private && externalOnlyKey.Get(in.Values) {
			continue
		}
		ingress := corev1.LoadBalancerIngress{IP: a.IP}
		if mode := ingressModeKey.Get(in.Values); mode != "" {
			typed := corev1.LoadBalancerIPMode(mode)
			ingress.IPMode = &typed
		}
		out.Ingress = append(out.Ingress, status.Canonical(ingress))
	}
	return out
}
