package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Addresses returns the host name of the load balancer, which it has from its creation on. A
// network load balancer has an address beside it, which does not change.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_provider.go (GetLoadBalancerStatus).
func Addresses(_ Input, have *stack.Stack) status.Result {
	lb, ok := have.Get(balancerKey())
	spec, _ := lb.Spec.(Balancer)
	if !ok || spec.Hostname == "" || lb.Proof == stack.None {
		return status.Result{}
	}
	ingress := corev1.LoadBalancerIngress{Hostname: spec.Hostname}
	if spec.Kind != ALB && len(spec.Addresses) > 0 {
		ingress.IP = spec.Addresses[0]
	}
	return status.Result{Ingress: []corev1.LoadBalancerIngress{status.Canonical(ingress)}}
}
