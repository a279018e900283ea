package model

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Ways to look load balancers up.
const (
	// ByTag is the UID in the tags of the Service's own load balancer.
	ByTag = "tag"
	// ByID is the id of an existing load balancer that the Service uses.
	ByID = "id"
	// ByHint is the id that a controller has written on the Service.
	ByHint = "hint"
	// ByRegion is another region in which the Service may have its load balancer.
	ByRegion = "region"
)

// OwnedScope returns where anything that the Service may own can be found.
func OwnedScope(id Identity) providers.Scope {
	s := providers.Scope{Owner: id.Owner}
	if id.Places[modeKey.Name] == skip {
		return s
	}
	s.Own = []providers.Lookup{{Kind: KindBalancer, By: ByTag, Value: id.Owner.UID}}
	for _, region := range regionsOf(id) {
		s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: ByRegion, Value: region})
	}
	existing := ""
	if lb := id.Places[existedKey.Name]; lb != "" {
		existing = IDIn(awayIn(id.Config, id.Places[regionsKey.Name]), lb)
		s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: ByID, Value: existing})
	}
	if lb := id.Places[outID]; lb != "" {
		if hint := IDIn(awayIn(id.Config, id.Places[outRegion]), lb); hint != existing {
			s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: ByHint, Value: hint})
		}
	}
	return s
}

// OnDelete are the annotations that say where something of a Service is.
func OnDelete() []string {
	return []string{existedKey.Name, modeKey.Name, regionsKey.Name, outID, outRegion}
}

// Scope returns what to look up for a Service that is served.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places = map[string]string{
		existedKey.Name: existedKey.Get(in.Values), regionsKey.Name: regionsKey.Get(in.Values), outID: in.Service.Annotations[outID], outRegion: in.Service.Annotations[outRegion],
	}
	s := OwnedScope(id)
	s.Nodes = in.Backends.Nodes
	return s, nil
}

// MayWant reports whether a Service that cannot be built might need a shared entry: no kind of this
// cloud has any.
func MayWant(Identity, stack.Resource) bool { return false }
