package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Addresses returns the address of the load balancer, which it has from its creation on, or the
// host name that the Service gives it.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1 (updateServiceStatus).
func Addresses(in Input, have *stack.Stack) status.Result {
	lb, ok := have.Get(balancerKey())
	spec, _ := lb.Spec.(Balancer)
	if !ok || spec.Address == "" || lb.Proof == stack.None {
		return status.Result{}
	}
	out := status.Result{Labels: map[string]string{labelBalancer: lb.ID}}
	if name := hostnameKey.Get(in.Values); name != "" {
		out.Ingress = []corev1.LoadBalancerIngress{status.Hostname(name)}
	} else {
		out.Ingress = []corev1.LoadBalancerIngress{status.IP(spec.Address, corev1.LoadBalancerIPModeVIP)}
	}
	return out
}
