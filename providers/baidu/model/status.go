package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Addresses returns the public address of the load balancer, or that in the VPC if it is internal.
func Addresses(_ Input, have *stack.Stack) status.Result {
	for lb, spec := range stack.Each[Balancer](have, KindBalancer) {
		if lb.Proof == stack.None && lb.Ownership != stack.External {
			continue
		}
		if address := publicAddress(have, spec); address != "" {
			return status.Result{Ingress: []corev1.LoadBalancerIngress{status.IP(address, corev1.LoadBalancerIPModeVIP)}}
		}
	}
	return status.Result{}
}

// publicAddress returns the address of a load balancer that clients connect to; empty: it is not known
// yet.
func publicAddress(s *stack.Stack, lb Balancer) string {
	switch {
	case lb.EIP.IsZero():
		return lb.Address
	case lb.EIP.ID != "":
		return lb.EIP.ID
	}
	own, _ := s.Get(lb.EIP.To)
	return own.ID
}
