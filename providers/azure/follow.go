package azure

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// follow keeps what is there of a Service that cannot be understood, with today's
// nodes in its pools of addresses.
func follow(in input, facts *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: in.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None {
			continue
		}
		if spec, ok := r.Spec.(Pool); ok && in.Config.PoolType == poolNodeIP && in.Backends.Nodes.Len() > 0 {
			b := &builder{in: in, facts: facts, have: have, lb: spec.Balancer}
			family := corev1.IPv4Protocol
			if len(spec.Addresses) > 0 && slices.ContainsFunc(spec.Addresses, PoolAddress.isIPv6) {
				family = corev1.IPv6Protocol
			}
			if list := b.poolAddresses(r.Key, family); len(list) > 0 {
				spec.Addresses = list
			}
			r.Spec = spec
		}
		out.Put(r)
	}
	out.Sort()
	return out
}
