package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// outputs are the finalizer by which the AWS Load Balancer Controller knows what is its to
// release.
func outputs() providers.Outputs {
	return providers.Outputs{
		Finalizers:      []string{finalizerLBC},
		ClassFinalizers: map[string][]string{classLBC: {finalizerLBC}},
	}
}

// controlledResult adds to a result what that controller writes: ports beside the host
// name, and its finalizer while a load balancer is there.
func controlledResult(in input, have *stack.Stack, result status.Result) status.Result {
	if in.Kind != LBC {
		return result
	}
	if _, state := endpoint(have, wantedKey(in)); state != stack.Failed {
		result.Finalizers = []string{finalizerLBC}
	}
	for i := range result.Ingress {
		for _, p := range in.Backends.Ports {
			if !listensOn(have, wantedKey(in), p.Port) {
				continue
			}
			result.Ingress[i].Ports = append(result.Ingress[i].Ports, corev1.PortStatus{Port: p.Port, Protocol: p.Protocol})
		}
	}
	return result
}

// listensOn tells whether a load balancer has a listener of the Service on a port, where
// ports may be others'.
func listensOn(have *stack.Stack, lb stack.Key, port int32) bool {
	return lb.Kind != KindSharedNetwork || slices.ContainsFunc(have.Of(KindListener), func(r stack.Resource) bool {
		l, _ := r.Spec.(Listener)
		return r.In == lb && r.Proof != stack.None && l.Port == port
	})
}
