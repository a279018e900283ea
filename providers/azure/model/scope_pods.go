package model

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
			{Kind: KindContainer, By: ByName, Value: ContainerName(uid)},
			{Kind: KindContainerIP, By: ByName, Value: ContainerIPName(uid)},
			{Kind: KindRegistered, By: ByName, Value: ContainerName(uid)},
			{Kind: KindPods, By: byService, Value: ContainerName(uid)},
		},
		Facts: []providers.Lookup{{Kind: KindPublicIP, By: ByGroup, Value: c.Group}},
	}
}

// wantingPods adds that a load balancer is wanted, so that lists of a moment ago
// will do.
func wantingPods(s providers.Scope, in input) providers.Scope {
	s.Facts = append(s.Facts, providers.Lookup{Kind: KindBalancer, By: ByWanted, Value: ContainerName(in.Owner.UID)})
	return s
}
