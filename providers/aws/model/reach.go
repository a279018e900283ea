package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// computeReach returns how far a Service reaches: its scheme, and the resources of the
// account that it names.
func computeReach(in input) providers.Reach {
	internal, origin, said := internalSaid(in.Values)
	if in.Kind == LBC {
		var scheme string
		if scheme, origin, said = schemeSaid(in.Values); !said {
			scheme = in.Config.Controller.completed().Scheme
		}
		internal = scheme == SchemeInternal
	}
	if !said {
		origin = annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name}
	}
	return providers.Reach{
		Kind: in.Kind, Internet: !internal, Scheme: origin, Internal: "true",
		Names:  slices.Concat(slices.DeleteFunc(in.Values.Named(), isJoined), joinedGroup(in)),
		Opens:  openedGroups(in),
		Beyond: foreignGroup(in),
		Size:   sizeOf(in),
	}
}

// isJoined reports whether a naming is one that joined resolves.
func isJoined(n providers.Naming) bool { return n.Key == adoptKey.Name || n.Key == groupKey.Name }

// joinedGroup returns the group that a Service names, namespace/name, or the name of
// the load balancer of another owner, whether the Service gives its name or its ARN.
func joinedGroup(in input) []providers.Naming {
	if value, origin, said := adoptKey.Lookup(in.Values); said {
		return []providers.Naming{{Thing: annotations.ThingLoadBalancer, Key: origin.Key, Value: adoptedName(value)}}
	}
	value, origin, said := groupKey.Lookup(in.Values)
	if !said {
		return nil
	}
	return []providers.Naming{{Thing: annotations.ThingLoadBalancer, Key: origin.Key, Value: groupOf(in.Owner.Namespace, value)}}
}

// foreignGroup returns the group of another namespace that a Service joins.
func foreignGroup(in input) []providers.Naming {
	value, origin, said := groupKey.Lookup(in.Values)
	if !said || strings.HasPrefix(groupOf(in.Owner.Namespace, value), in.Owner.Namespace+"/") {
		return nil
	}
	return []providers.Naming{{Thing: annotations.ThingLoadBalancer, Key: origin.Key, Value: value}}
}

// openedGroups returns the group that the nodes admit on all ports: the first one that a
// Classic Load Balancer is given. Their tags decide which of several it is, so all of them
// are returned.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go (updateInstanceSecurityGroupsForLoadBalancer).
func openedGroups(in input) []providers.Naming {
	if in.Kind != CLB || in.Config.DisableNodeRules {
		return nil
	}
	var out []providers.Naming
	for _, n := range in.Values.Named() {
		if n.Key == groupsKey.Name {
			out = append(out, n)
		}
	}
	return out
}

// reachAfter returns computeReach with properties that a live load balancer keeps although
// the Service no longer requests them: its scheme, and the addresses in its subnets, which
// AWS cannot change. It includes the group that the nodes admit on all ports, since the
// tags are now known.
func reachAfter(in input, want *stack.Stack) providers.Reach {
	r := computeReach(in)
	public := func(scheme string) {
		if scheme == schemePublic && !r.Internet {
			r.Internet, r.Internal = true, SchemeInternal
			r.Scheme = annotations.Origin{Source: annotations.FromDefault, Key: "scheme of the load balancer", Raw: scheme}
		}
	}
	asked := func(m Mapping) bool {
		return slices.ContainsFunc(r.Names, func(n providers.Naming) bool { return n.Value == m.Allocation })
	}
	r.Opens = nil
	for _, res := range want.Resources {
		switch spec := res.Spec.(type) {
		case NodeRule:
			if id := spec.Permission.Source.ID; id != "" && id != in.Config.SharedGroup && spec.Permission.Protocol == "-1" {
				r.Opens = append(r.Opens, namingOf(r.Names, id))
			}
		case Classic:
			public(spec.Scheme)
		case Network:
			public(spec.Scheme)
			for _, m := range spec.Mappings {
				if m.Allocation != "" && !asked(m) && res.Ownership != stack.External {
					r.Names = append(r.Names, providers.Naming{Thing: annotations.ThingAddress, Key: "address of the load balancer in " + m.Subnet, Value: m.Allocation})
				}
			}
		}
	}
	return r
}

// namingOf is how a Service names a group.
func namingOf(names []providers.Naming, id string) providers.Naming {
	for _, n := range names {
		if n.Thing == annotations.ThingSecurityGroup && n.Value == id {
			return n
		}
	}
	return providers.Naming{Thing: annotations.ThingSecurityGroup, Key: groupsKey.Name, Value: id}
}

// sizeOf counts a rule for every port and every range of clients, and one for each
// range that lets messages about packet sizes in, where groups get such rules: that of
// a Classic Load Balancer of its own, and those of the nodes or of a Network Load
// Balancer.
func sizeOf(in input) providers.Size {
	size := providers.SizeOf(capabilityOf(in.Kind), in.Service)
	named := len(groupsKey.Get(in.Values)) > 0
	if in.Kind == LBC && named || in.Kind == CLB && (named || in.Config.SharedGroup != "") ||
		in.Kind == NLB && in.Config.DisableNodeRules && in.Config.GroupMode != groupModeManaged {
		return size
	}
	size.Rules = (len(in.Service.Spec.Ports) + 1) * max(1, size.Ranges)
	return size
}
