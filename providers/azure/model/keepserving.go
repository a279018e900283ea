package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// keepServing retains the existing stack of an invalid Service, with the present nodes in
// its pools. Entries of addresses no longer in use are left out, except those of nodes that
// may return and those of addresses that the Service names: every Service finds them, and one
// that retained them would keep them open permanently. A pool that another controller has filled, such as the pool for outbound
// traffic of the nodes, carries no proof: it is the Service's if its rules use it.
func keepServing(in input, facts *Facts, have *stack.Stack) *stack.Stack {
	if in.Config.PodIP() {
		return followPods(in, have)
	}
	out := &stack.Stack{Owner: in.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.Leftover && !toNodes(have, r) && !isWanted(in, have, r) {
			continue
		}
		if r.Proof != stack.None {
			out.Put(r)
		}
	}
	for r, e := range stack.Each[Entries](have, KindEntries) {
		if r.Proof != stack.None && in.Backends.Nodes.Len() > 0 {
			followPools(in, facts, have, e, out)
		}
	}
	out.Sort()
	return out
}

// toNodes reports whether an entry of the security group admits packets to a node port for
// an observed rule of the Service.
func toNodes(have *stack.Stack, r stack.Resource) bool {
	a, ok := r.Spec.(Access)
	return ok && slices.ContainsFunc(have.Of(KindEntries), func(found stack.Resource) bool {
		e, _ := found.Spec.(Entries)
		return found.Proof != stack.None && slices.ContainsFunc(e.Rules, func(rule Rule) bool {
			return toNode(rule) && (a.Deny || slices.Contains(a.Ports, string(jsonNumber(rule.BackendPort))))
		})
	})
}

// isWanted reports whether an entry of the security group is for a port of the Service at one
// of its frontends, or at an address that it uses without a frontend. The annotation is read
// as text, since another part of it may be what is invalid.
func isWanted(in input, have *stack.Stack, r stack.Resource) bool {
	a, ok := r.Spec.(Access)
	named := hasAddress(have, a.Destination) || slices.ContainsFunc(strings.Split(in.Service.Annotations[additionalKey.Name], ","), func(text string) bool {
		return Canonical(strings.TrimSpace(text)) == a.Destination
	})
	return ok && named && !slices.ContainsFunc(a.Ports, func(port string) bool {
		return !slices.ContainsFunc(in.Service.Spec.Ports, func(p corev1.ServicePort) bool { return string(jsonNumber(p.Port)) == port })
	})
}

// hasAddress reports whether an observed frontend of the Service has the address.
func hasAddress(have *stack.Stack, address string) bool {
	return slices.ContainsFunc(have.Of(KindEntries), func(r stack.Resource) bool {
		e, _ := r.Spec.(Entries)
		return r.Proof != stack.None && slices.ContainsFunc(e.Frontends, func(f Frontend) bool { return f.Address == address })
	})
}

// followPools wants today's nodes in the pools of found entries.
func followPools(in input, facts *Facts, have *stack.Stack, e Entries, out *stack.Stack) {
	b := &builder{in: in, facts: facts, have: have, lb: e.Balancer, cluster: clusterName(in.Identity), base: BaseName(in.Owner.UID), entries: e, out: out}
	if in.Config.FilledByOthers(KindOf(e.Balancer)) {
		return
	}
	for _, name := range e.Pools {
		found, ok := have.Get(PoolKey(e.Balancer, name))
		if !ok {
			continue
		}
		family := corev1.IPv4Protocol
		if strings.HasSuffix(lowerCase(name), lowerCase(SuffixIPv6)) {
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
	if b.in.Config.PoolType == PoolNodeIP {
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
