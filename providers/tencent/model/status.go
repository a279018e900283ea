package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Addresses returns the addresses of the load balancer, or its domain in regions where it has no
// address of its own. The region is recorded before anything is created there.
func Addresses(in Input, have *stack.Stack) status.Result {
	for lb, spec := range stack.Each[Balancer](have, KindBalancer) {
		if lb.Proof == stack.None && lb.Ownership != stack.External {
			continue
		}
		region, id := SplitID(lb.ID)
		out := status.Result{Annotations: map[string]string{outID: id, outIPv6: spec.Address6, outRegion: region}}
		for _, address := range spec.Addresses {
			out.Ingress = append(out.Ingress, status.IP(address, corev1.LoadBalancerIPModeVIP))
		}
		if len(spec.Addresses) == 0 && spec.Domain != "" {
			out.Ingress = []corev1.LoadBalancerIngress{status.Hostname(spec.Domain)}
		}
		return out
	}
	if region := regionOf(in); region != "" {
		return status.Result{Early: map[string]string{outRegion: region}}
	}
	return status.Result{}
}
