package aws

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// reach says how far a Service reaches: its scheme, and what it names of the
// account.
func reach(in input) providers.Reach {
	internal, origin, said := internalKey.Lookup(in.Values)
	if !said {
		origin = annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name}
	}
	return providers.Reach{
		Kind: in.Kind, Internet: !internal, Scheme: origin, Internal: "true",
		Names: slices.Concat(
			providers.NamedByList(in.Values, providers.ThingAddress, eipKey),
			providers.NamedByList(in.Values, providers.ThingAddress, privateIPKey),
			providers.NamedBy(in.Values, providers.ThingBucket, logsBucketKey),
			providers.NamedBy(in.Values, providers.ThingCertificate, certKey),
			providers.NamedByList(in.Values, providers.ThingSecurityGroup, groupsKey, extraGroupsKey),
			providers.NamedByList(in.Values, providers.ThingSubnet, subnetsKey),
		),
	}
}
