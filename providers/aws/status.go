package aws

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// addresses says by which name clients reach the Service: that of the load
// balancer of the wanted kind, as soon as it can be used. While it is not there
// yet, or is not ready, one of the other kind still serves and is named.
//
// A Classic Load Balancer can be used at once. A new Network Load Balancer is
// named while it is still being made, as the official controller does, unless
// another one serves; one that has failed is not.
func addresses(in input, have *stack.Stack) status.Result {
	wanted, other := classicKey(), networkKey()
	if in.Kind != CLB {
		wanted, other = other, wanted
	}
	name, state := endpoint(have, wanted)
	if name == "" || state != stack.Ready {
		if old, oldState := endpoint(have, other); old != "" && oldState == stack.Ready {
			name, state = old, oldState
		}
	}
	if name == "" || state == stack.Failed {
		return controlledResult(in, have, status.Result{})
	}
	return controlledResult(in, have, status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname(name)}})
}

// endpoint is the DNS name of a found load balancer of ours, and its state.
func endpoint(have *stack.Stack, k stack.Key) (string, stack.State) {
	r, ok := have.Get(k)
	if !ok || r.Proof == stack.None {
		return "", stack.Failed
	}
	switch spec := r.Spec.(type) {
	case Classic:
		return spec.DNSName, r.State
	case Network:
		return spec.DNSName, r.State
	}
	return "", stack.Failed
}
