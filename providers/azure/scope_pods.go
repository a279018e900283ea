package azure

import (
	"github.com/berth-lb/berth/providers"
)

// tracePods says where anything of a Service can be where pools are of pods: all of
// it has the UID as its name.
func tracePods(id identity) providers.Scope {
	uid, c := id.Owner.UID, id.Config
	return providers.Scope{
		Owner: id.Owner,
		Own: []providers.Lookup{
			{Kind: KindContainer, By: byName, Value: containerName(uid)},
			{Kind: KindContainerIP, By: byName, Value: containerIPName(uid)},
			{Kind: KindRegistered, By: byName, Value: containerName(uid)},
			{Kind: KindPods, By: byService, Value: containerName(uid)},
		},
		Facts: []providers.Lookup{{Kind: KindPublicIP, By: byGroup, Value: c.Group}},
	}
}

// wantingPods adds that a load balancer is wanted, so that lists of a moment ago
// will do.
func wantingPods(s providers.Scope, in input) providers.Scope {
	s.Facts = append(s.Facts, providers.Lookup{Kind: KindBalancer, By: byWanted, Value: containerName(in.Owner.UID)})
	return s
}
