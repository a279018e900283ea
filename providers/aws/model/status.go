package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// statusOf returns the name by which clients reach the Service: that of the load
// balancer of the wanted kind, as soon as it can be used. While it does not exist yet,
// or is not ready, one of the other kind still serves and is named.
//
// A Classic Load Balancer can be used at once. A new Network Load Balancer is named
// while it is still being created, as the official controller does, unless another one
// serves; one that has failed is not.
func statusOf(in input, have *stack.Stack) status.Result {
	wanted := wantedKey(in)
	name, state := endpointOf(in, have, wanted)
	if name == "" || state != stack.Ready {
		for _, other := range foundBalancers(have) {
			if old, oldState := endpointOf(in, have, other); other != wanted && old != "" && oldState == stack.Ready {
				name, state = old, oldState
			}
		}
	}
	if name == "" || state == stack.Failed {
		return controlledResult(in, have, status.Result{})
	}
	return controlledResult(in, have, status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname(name)}})
}

// wantedKey is the load balancer that the Service asks for.
func wantedKey(in input) stack.Key {
	switch place := placeOf(in.Owner.Namespace, groupKey.Get(in.Values), adoptKey.Get(in.Values)); {
	case in.Kind == CLB:
		return ClassicKey()
	case in.Kind == LBC && place != "":
		return SharedNetworkKey(place)
	}
	return networkKey()
}

// foundBalancers returns the keys of all observed load balancers.
func foundBalancers(have *stack.Stack) []stack.Key {
	var out []stack.Key
	for _, kind := range []stack.Kind{KindClassic, KindNetwork, KindSharedNetwork} {
		for _, r := range have.Of(kind) {
			out = append(out, r.Key)
		}
	}
	return out
}

// hasListener reports whether a load balancer has a listener of the Service. Without one its name
// leads nowhere, or to other Services. A name that the Service carries stays: a read that only
// looks for the load balancer shows no listeners.
func hasListener(in input, have *stack.Stack, lb stack.Key, host string) bool {
	if lb.Kind != KindSharedNetwork && in.Service != nil && slices.ContainsFunc(in.Service.Status.LoadBalancer.Ingress, func(i corev1.LoadBalancerIngress) bool { return i.Hostname == host }) {
		return true
	}
	return slices.ContainsFunc(have.Resources, func(r stack.Resource) bool {
		return (r.Key.Kind == KindListener || r.Key.Kind == KindClassicPort) && r.In == lb && r.Proof != stack.None
	})
}

// endpointOf returns the DNS name of an observed load balancer that has listeners of
// the Service, and its state.
func endpointOf(in input, have *stack.Stack, k stack.Key) (string, stack.State) {
	name, state := balancerOf(have, k)
	if state != stack.Failed && !hasListener(in, have, k, name) {
		return "", stack.Failed
	}
	return name, state
}

// balancerOf is the DNS name of a found load balancer that is ours or lent, and its state.
func balancerOf(have *stack.Stack, k stack.Key) (string, stack.State) {
	r, ok := have.Get(k)
	if !ok || r.Proof == stack.None && r.Ownership != stack.External {
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
