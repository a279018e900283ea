package azure

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// follow keeps what is there of a Service that cannot be understood, with today's
// nodes in its pools. A pool that another controller has filled, such as that of
// the nodes' way out, carries no proof: it is the Service's if its rules use it.
func follow(in input, facts *Facts, have *stack.Stack) *stack.Stack {
	if in.Config.podIP() {
		return followPods(in, have)
	}
	out := &stack.Stack{Owner: in.Owner}
	for _, r := range have.Resources {
		if r.Proof != stack.None {
			out.Put(r)
		}
	}
	for _, r := range have.Of(KindEntries) {
		if e, ok := r.Spec.(Entries); ok && r.Proof != stack.None && in.Backends.Nodes.Len() > 0 {
			followPools(in, facts, have, e, out)
		}
	}
	out.Sort()
	return out
}

// followPools wants today's nodes in the pools of found entries.
func followPools(in input, facts *Facts, have *stack.Stack, e Entries, out *stack.Stack) {
	b := &builder{in: in, facts: facts, have: have, lb: e.Balancer, cluster: clusterName(in.Identity), base: baseName(in.Owner.UID), entries: e, out: out}
	if in.Config.preConfigured(kindOf(e.Balancer)) {
		return
	}
	for _, name := range e.Pools {
		found, ok := have.Get(poolKey(e.Balancer, name))
		if !ok {
			continue
		}
		family := corev1.IPv4Protocol
		if strings.HasSuffix(lower(name), lower(suffixIPv6)) {
			family = corev1.IPv6Protocol
		}
		b.fill(found, name, family)
	}
}

// fill wants today's nodes in a found pool. One that no node fits stays as it is.
func (b *builder) fill(found stack.Resource, name string, family corev1.IPFamily) {
	spec, ok := found.Spec.(Pool)
	if !ok {
		return
	}
	if b.in.Config.PoolType == poolNodeIP {
		list := b.poolAddresses(found.Key, family)
		if len(list) == 0 {
			return
		}
		spec.Addresses = list
	} else {
		b.machines(name)
	}
	found.Spec = spec
	b.out.Put(found)
}
