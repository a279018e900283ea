package model

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Reach says how far a Service reaches: whether its address is public, and what it
// names of the tenancy.
func Reach(in Input) providers.Reach {
	key := internalKey
	if in.Kind == NLB {
		key = netInternalKey
	}
	r := providers.Reach{Kind: in.Kind, Internet: !isInternal(in), Internal: "true", Scheme: annotations.Origin{Source: annotations.FromDefault, Key: key.Name}}
	if _, origin, said := key.Lookup(in.Values); said {
		r.Scheme = origin
	}
	r.Names = slices.Concat(providers.AddressField(in.Service), in.Values.Named(), mappedCertificates(in))
	r.Size = sizeOf(in)
	return r
}

// mappedCertificates returns the certificates that a Service names through a ConfigMap,
// as far as it has been read: without it nothing is built.
func mappedCertificates(in Input) []providers.Naming {
	ref, ok := mapOf(in)
	if !ok {
		return nil
	}
	var out []providers.Naming
	for _, p := range in.Service.Spec.Ports {
		ids, _ := certificatesOf(in.Objects[ref], p.Port) // what is no list names nothing, and is refused
		for _, id := range ids {
			if tlsPortsKey.Get(in.Values).Has(p) {
				out = append(out, providers.Naming{Thing: annotations.ThingCertificate, Key: certificateMapKey.Name, Value: id})
			}
		}
	}
	return out
}

// Becomes is Reach of a load balancer that keeps its scheme: it cannot change.
func Becomes(in Input, want *stack.Stack) providers.Reach {
	r := Reach(in)
	if lb, ok := want.Get(productOf(in.Kind).key()); ok {
		if spec, is := lb.Spec.(Balancer); is {
			r.Internet = !spec.Private
		}
	}
	return r
}

// sizeOf counts a rule for every range and port, in whichever list they are.
func sizeOf(in Input) providers.Size {
	c, _ := providers.CapabilityOf(Capabilities(), in.Kind)
	size := providers.SizeOf(c, in.Service)
	if ruleMode(in) != modeNone {
		size.Rules = size.Ports * max(size.Ranges, 1)
	}
	return size
}

// KeepServing returns what was found, with today's nodes behind it. Pods stay as they are.
func KeepServing(in Input, _ *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.External {
			continue
		}
		if spec, ok := r.Spec.(BackendSet); ok && len(spec.Backends) > 0 {
			spec.Backends = followNodes(in, spec.Backends)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// followNodes returns today's nodes as backends like the observed ones. Backends that
// are pods are kept: an instance is a node, and an address one if a node has it.
func followNodes(in Input, found []Backend) []Backend {
	like := found[0]
	var out []Backend
	for node := range in.Backends.Nodes.All() {
		if address, ok := node.Address(nodeports.FamilyOf(addressOf(like))); ok {
			next := Backend{Address: address.String(), Port: like.Port, Weight: 1}
			if like.Target != "" {
				next.Target = InstanceID(node)
			}
			out = append(out, next)
		}
	}
	isNode := func(f Backend) bool {
		return f.Target != "" || slices.ContainsFunc(out, func(b Backend) bool { return b.Address == f.Address })
	}
	return providers.Follow(found, keepSettings(out, found), isNode)
}

// MayWant reports whether a Service that cannot be built might need a shared rule: any
// existing rule may be one of its own.
func MayWant(_ Identity, entry stack.Resource) bool { return entry.Key.Kind == KindEntry }
