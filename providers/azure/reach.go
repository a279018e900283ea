package azure

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// reach says how far a Service reaches: its scheme, and what it names of the
// subscription. A private link service lets other subscriptions in, not the
// internet; it can be told by the name of its key.
func reach(in input) providers.Reach {
	_, origin, said := internalKey.Lookup(in.Values)
	if !said {
		origin = annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name}
	}
	return providers.Reach{
		Kind: in.Kind, Internet: in.Kind != Internal, Scheme: origin, Internal: "true",
		Names: slices.Concat(
			providers.NamedBy(in.Values, providers.ThingAddress, pipNameKey, pipNameV6Key),
			providers.NamedBy(in.Values, providers.ThingAddress, ipv4Key, ipv6Key),
			providers.NamedByList(in.Values, providers.ThingAddress, additionalKey, linkIPsKey),
			providers.AddressField(in.Service),
			providers.NamedBy(in.Values, providers.ThingAddressPrefix, pipPrefixKey, pipPrefixV6Key),
			providers.NamedBy(in.Values, providers.ThingDNSLabel, dnsKey),
			providers.NamedBy(in.Values, providers.ThingLink, linkNameKey),
			providers.NamedByList(in.Values, providers.ThingLoadBalancer, configurationsKey),
			providers.NamedBy(in.Values, providers.ThingResourceGroup, groupKey, linkGroupKey),
			providers.NamedBy(in.Values, providers.ThingSubnet, subnetKey, linkSubnetKey),
		),
	}
}
