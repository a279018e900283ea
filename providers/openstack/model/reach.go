package model

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Reach says how far a Service reaches: whether it gets a floating IP, and what it
// names of the project.
func Reach(in Input) providers.Reach {
	r := providers.Reach{
		Kind: Octavia, Internet: !isInternal(in), Internal: "true",
		Names:  slices.Concat(providers.AddressField(in.Service), in.Values.Named()),
		Scheme: annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name},
	}
	r.Size = sizeOf(in)
	if _, origin, said := internalKey.Lookup(in.Values); said {
		r.Scheme = origin
	}
	return r
}

// Becomes returns Reach with the load balancer of others that the Service is on: the controller
// writes the id of the Service's own into the same annotation.
func Becomes(in Input, want *stack.Stack) providers.Reach {
	r := Reach(in)
	own := slices.ContainsFunc(want.Resources, func(res stack.Resource) bool {
		return res.Key == balancerKey() && res.Ownership != stack.External
	})
	if own {
		r.Names = providers.WithoutReported(r.Names)
	}
	return r
}

// sizeOf counts every range of every listener.
func sizeOf(in Input) providers.Size {
	c, _ := providers.CapabilityOf(Capabilities(), Octavia)
	size := providers.SizeOf(c, in.Service)
	size.Rules = size.Ports * size.Ranges
	return size
}

// KeepServing returns the existing stack with the present nodes as members.
func KeepServing(in Input, _ *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.External {
			continue
		}
		if spec, ok := r.Spec.(Members); ok && len(spec.Members) > 0 {
			spec.Members = followNodes(in, spec.Members)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// followNodes returns today's nodes as members like the observed ones.
func followNodes(in Input, found []Member) []Member {
	like := found[0]
	var out []Member
	for node := range in.Backends.Nodes.All() {
		if address, ok := node.Address(ipFamily(in)); ok {
			m := Member{Name: node.Name, Address: address.String(), Port: like.Port, Subnet: like.Subnet, Check: like.Check}
			if in.Config.Serial {
				m.Name = serialName(m)
			}
			out = append(out, m)
		}
	}
	slices.SortFunc(out, compareMembers)
	isNode := func(Member) bool { return true } // Octavia is given nodes alone
	return providers.Follow(found, out, isNode)
}

// MayWant reports whether a Service that cannot be built might need a shared entry: no kind
// of this cloud has any.
func MayWant(Identity, stack.Resource) bool { return false }
