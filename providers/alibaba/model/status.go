package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// officialOutputs returns what the official controller writes on Services. It removes only its own finalizers, and
// releases only Services that have them.
func officialOutputs() providers.Outputs {
	all := []string{finalizerCLB, finalizerNLB}
	return providers.Outputs{
		Labels: []string{labelBalancer, labelSecurity, labelHash}, Finalizers: all,
		ClassFinalizers: map[string][]string{"": all, ClassNLB: {finalizerNLB}},
	}
}

// outputFinalizers returns the finalizer of the official controller. A Service of another class gets none: that
// controller would release it.
func outputFinalizers(in Input) []string {
	switch class := in.Service.Spec.LoadBalancerClass; {
	case class != nil && *class != ClassNLB:
		return nil
	case in.Kind == NLB:
		return []string{finalizerNLB}
	}
	return []string{finalizerCLB}
}

// Addresses returns the address of the load balancer, which it has from its creation on, or the
// host name that the Service gives it.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1 (updateServiceStatus).
func Addresses(in Input, have *stack.Stack) status.Result {
	if in.Kind == NLB {
		return netAddresses(in, have)
	}
	lb, ok := have.Get(balancerKey())
	spec, _ := lb.Spec.(Balancer)
	if !ok || spec.Address == "" || lb.Proof == stack.None && lb.Ownership != stack.External {
		return status.Result{}
	}
	out := status.Result{Labels: map[string]string{labelBalancer: lb.ID}, Finalizers: outputFinalizers(in)}
	if name := hostnameKey.Get(in.Values); name != "" {
		out.Ingress = []corev1.LoadBalancerIngress{status.Hostname(name)}
	} else if public, _ := have.Get(publicKey()); len(publicOf(public)) > 0 {
		for _, address := range publicOf(public) {
			out.Ingress = append(out.Ingress, status.IP(address, corev1.LoadBalancerIPModeVIP))
		}
	} else {
		out.Ingress = []corev1.LoadBalancerIngress{status.IP(spec.Address, corev1.LoadBalancerIPModeVIP)}
	}
	return out
}

func publicKey() stack.Key { return stack.Key{Kind: KindPublic} }

// publicOf returns elastic IP addresses that were found.
func publicOf(r stack.Resource) []string {
	spec, _ := r.Spec.(Public)
	return spec.Addresses
}

// netAddresses returns the host name of the network load balancer.
func netAddresses(in Input, have *stack.Stack) status.Result {
	lb, ok := have.Get(netBalancerKey())
	spec, _ := lb.Spec.(NetBalancer)
	if !ok || spec.Host == "" || lb.Proof == stack.None && lb.Ownership != stack.External {
		return status.Result{}
	}
	out := status.Result{
		Labels: map[string]string{labelBalancer: lb.ID}, Finalizers: outputFinalizers(in),
		Ingress: []corev1.LoadBalancerIngress{status.Hostname(spec.Host)},
	}
	if group, ok := have.Get(securityGroupKey()); ok && group.ID != "" && group.Proof != stack.None {
		out.Labels[labelSecurity] = group.ID
	}
	return out
}
