package model

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// computeReach returns how far a Service reaches: its scheme, and the resources of the
// project that it names. The kind is the one of a new load balancer; a live one may be
// of an older kind, always of the same scheme.
func computeReach(in input) providers.Reach {
	in = withEffectiveKind(in, &stack.Stack{})
	r := providers.Reach{
		Kind: in.Kind, Internet: schemeOf(in.Kind) == SchemeExternal, Internal: "Internal",
		Names: slices.Concat(in.Values.Named(), providers.AddressField(in.Service)),
		Size:  sizeOf(in),
	}
	_, origin, said := typeKeyOf(in.Service.Annotations).Lookup(in.Values)
	switch class := in.Service.Spec.LoadBalancerClass; {
	case class != nil && settledByClass(*class):
		r.Scheme, r.Internal = annotations.Origin{Source: annotations.FromClass, Key: "spec.loadBalancerClass", Raw: *class}, classInternal
	case said:
		r.Scheme = origin
	default:
		r.Scheme = annotations.Origin{Source: annotations.FromDefault, Key: typeKey.Name}
	}
	return r
}

// sizeOf counts a firewall for each family, which has all ports and ranges.
func sizeOf(in input) providers.Size {
	c, _ := providers.CapabilityOf(kindCapabilities(), in.Kind)
	size := providers.SizeOf(c, in.Service)
	size.Rules = max(1, len(in.Service.Spec.IPFamilies))
	return size
}

// settledByClass reports whether the class is one that determines the scheme.
func settledByClass(class string) bool {
	return slices.Contains([]string{classExternal, classInternal, classExternalLegacy, classInternalLegacy}, class)
}
