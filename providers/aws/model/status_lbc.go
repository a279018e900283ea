package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// controllerOutputs returns the finalizer by which the AWS Load Balancer Controller
// identifies what it must release.
func controllerOutputs() providers.Outputs {
	return providers.Outputs{
		Finalizers:      []string{finalizerLBC},
		ClassFinalizers: map[string][]string{classLBC: {finalizerLBC}},
	}
}

// controlledResult adds to a result what that controller writes: ports beside the host
// name, and its finalizer while a load balancer exists.
func controlledResult(in input, have *stack.Stack, result status.Result) status.Result {
	if in.Kind != LBC {
		return result
	}
	wanted := wantedKey(in)
	name, state := balancerOf(have, wanted)
	if state != stack.Failed && (wanted.Kind != KindSharedNetwork || hasListener(in, have, wanted, name)) {
		result.Finalizers = []string{finalizerLBC}
	}
	for i := range result.Ingress {
		for _, p := range in.Backends.Ports {
			if !listensOn(in, have, wantedKey(in), p.Port) {
				continue
			}
			result.Ingress[i].Ports = append(result.Ingress[i].Ports, corev1.PortStatus{Port: p.Port, Protocol: p.Protocol})
		}
	}
	return result
}

// listensOn reports whether a load balancer has a listener of the Service on a port. Where no
// listener was read, the ports that the Service carries stay.
func listensOn(in input, have *stack.Stack, lb stack.Key, port int32) bool {
	read := false
	for r, l := range stack.Each[Listener](have, KindListener) {
		read = read || r.In == lb
		if r.In == lb && r.Proof != stack.None && l.Port == port {
			return true
		}
	}
	carries := func(i corev1.LoadBalancerIngress) bool {
		return slices.ContainsFunc(i.Ports, func(p corev1.PortStatus) bool { return p.Port == port })
	}
	return !read && lb.Kind != KindSharedNetwork && slices.ContainsFunc(in.Service.Status.LoadBalancer.Ingress, carries)
}
