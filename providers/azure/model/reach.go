package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// computeReach returns how far a Service reaches: its scheme, and the resources of the
// subscription that it names. A private link service admits other subscriptions, not the
// internet.
func computeReach(in input) providers.Reach {
	_, origin, said := internalKey.Lookup(in.Values)
	if !said {
		origin = annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name}
	}
	return providers.Reach{
		Kind: in.Kind, Internet: in.Kind != Internal, Scheme: origin, Internal: "true",
		Names: slices.Concat(namedBy(in), providers.AddressField(in.Service)),
		Size:  sizeOf(in),
	}
}

// namedBy lists what annotations name. A private link service is named by its own key, if that
// is set.
func namedBy(in input) []providers.Naming {
	_, _, said := linkNameKey.Lookup(in.Values)
	return slices.DeleteFunc(in.Values.Named(), func(n providers.Naming) bool { return said && n.Key == linkCreateKey.Name })
}

// sizeOf counts an entry of the network security group for every source, that is each
// service tag and all ranges together, for every protocol, family and address.
func sizeOf(in input) providers.Size {
	size := providers.SizeOf(capabilityOf(in.Kind), in.Service)
	if in.Service.Spec.LoadBalancerSourceRanges == nil {
		size.Ranges += len(allowedRangesKey.Get(in.Values))
	}
	if in.Config.PodIP() || noAccessKey.Get(in.Values) {
		return size
	}
	protocols := map[corev1.Protocol]bool{}
	for _, p := range in.Service.Spec.Ports {
		protocols[p.Protocol] = true
	}
	families := max(1, len(in.Service.Spec.IPFamilies))
	size.Rules = (len(serviceTagsKey.Get(in.Values)) + 1) * len(protocols) * families * (1 + len(additionalKey.Get(in.Values)))
	return size
}
