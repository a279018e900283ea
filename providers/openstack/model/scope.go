package model

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Ways to look resources up.
const (
	ByName  = "name"
	ByID    = "id"
	ByOwner = "owner" // by what a description or tag says of the Service
	// ByKept says that floating IPs stay when nothing uses them any more.
	ByKept = "kept"
	// ByServed says that the Service is served and not released: its own load balancer is
	// its own although others use it as well.
	ByServed = "served"
)

// OwnedScope says where anything that the Service may own can be found.
func OwnedScope(id Identity) providers.Scope {
	own := BalancerName(id.Cluster, id.Owner)
	out := []providers.Lookup{
		{Kind: KindBalancer, By: ByName, Value: own}, {Kind: KindBalancer, By: ByName, Value: LegacyName(id.Owner)},
		{Kind: KindShare, By: ByOwner, Value: own},
		{Kind: KindFloatingIP, By: ByOwner, Value: FloatingDescription(id.Cluster, id.Owner)},
		{Kind: KindGroup, By: ByName, Value: GroupName(id.Owner)},
	}
	if keepsFloating(id.Places[keepKey.Name]) {
		out = append(out, providers.Lookup{Kind: KindFloatingIP, By: ByKept})
	}
	if lb := id.Places[idKey.Name]; lb != "" {
		out = append(out, providers.Lookup{Kind: KindBalancer, By: ByID, Value: lb})
	}
	return providers.Scope{Owner: id.Owner, Own: out}
}

// OnDelete are the annotations that say where something of a Service is.
func OnDelete() []string { return []string{idKey.Name, keepKey.Name} }

// keepsFloating reports whether a floating IP outlives its Service. Text that is
// neither true nor false deletes nothing.
func keepsFloating(text string) bool { return text != "" && text != "false" }

// Scope says what Build must know besides.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places = map[string]string{idKey.Name: idKey.Get(in.Values), keepKey.Name: in.Service.Annotations[keepKey.Name]}
	s := OwnedScope(id)
	s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: ByServed})
	s.Nodes = in.Backends.Nodes
	s.Facts = factsFor(in)
	return s, nil
}

// ScopeForCreate is Scope for a Service for which nothing was ever made.
func ScopeForCreate(in Input) (providers.Scope, error) {
	s, err := Scope(in)
	if !in.Config.ManageGroups {
		s.Own = slices.DeleteFunc(s.Own, func(l providers.Lookup) bool { return l.Kind == KindGroup })
	}
	return s, err
}

func factsFor(in Input) []providers.Lookup {
	out := claimLookups(in)
	ask := func(kind stack.Kind, by, value string) {
		if l := (providers.Lookup{Kind: kind, By: by, Value: value}); !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	if members := memberSubnetKey.Get(in.Values); members != "" {
		ask(FactSubnet, ByID, members)
	}
	network, subnet := vipPlace(in)
	if network == "" && subnet == "" {
		for node := range in.Backends.Nodes.All() {
			if address, ok := node.Address(ipFamily(in)); ok {
				ask(FactNodeSubnet, ServerID(node), address.String())
				break
			}
		}
	}
	if in.Config.ManageGroups {
		ask(FactNodePorts, "", "")
		switch members := cmp.Or(memberSubnet(in), subnet); {
		case members != "":
			ask(FactSubnet, ByID, members)
		case network != "":
			ask(FactNetworkSubnets, ByID, network)
		}
	}
	if ref := tlsRef(in); ref != "" && !in.Config.ExternalStore {
		ask(FactSecret, ByID, ref)
	}
	if isInternal(in) || ipv6(in) {
		return out
	}
	return append(out, floatingFacts(in)...)
}

// floatingFacts returns the facts that a floating IP needs.
func floatingFacts(in Input) []providers.Lookup {
	var out []providers.Lookup
	ask := func(kind stack.Kind, by, value string) {
		out = append(out, providers.Lookup{Kind: kind, By: by, Value: value})
	}
	place := floatingPlace(in)
	switch place.network {
	case "":
		ask(FactExternal, "", "")
	case floatingNetworkKey.Get(in.Values):
		ask(FactExternalNetwork, ByID, place.network)
	}
	if place.subnet != "" {
		ask(FactSubnet, ByID, place.subnet)
	}
	if place.name != "" || place.tags != "" {
		ask(FactFloatingSubnets, place.network, place.tags)
	}
	if ip := in.Service.Spec.LoadBalancerIP; ip != "" {
		ask(FactFloatingIP, "", ip)
	}
	return out
}

// foundByName reports whether names and tags attribute a resource to its Service: only those of
// security groups have the UID.
func foundByName(_ stack.Owner, r stack.Resource) bool { return r.Key.Kind != KindGroup }
