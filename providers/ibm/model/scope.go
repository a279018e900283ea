package model

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Ways to look load balancers up.
const (
	// ByName is the default name of a load balancer, which proves whose it is.
	ByName = "name"
	// ByGivenName is a name that the Service chose. A load balancer of it is the Service's if
	// a note says so, or if all of its pools have names that are looked up as well.
	ByGivenName = "given-name"
	// ByHost is a host name in the status of the Service. Of several load balancers with a name of the
	// Service, clients use this one.
	ByHost = "host"
)

// OwnedScope returns where anything that the Service may own can be found.
func OwnedScope(id Identity) providers.Scope {
	cluster := id.Config.ClusterID
	out := []providers.Lookup{
		{Kind: KindBalancer, By: ByName, Value: BalancerName(cluster, id.Owner)},
		{Kind: KindBalancer, By: ByName, Value: ClassBalancerName(cluster, id.Owner)},
		{Kind: KindRule, By: ByName, Value: rulePrefix(id.Owner)},
	}
	if name := id.Places[nameKey.Name]; name != "" {
		out = append(out, providers.Lookup{Kind: KindBalancer, By: ByGivenName, Value: name})
		for _, p := range id.Ports {
			out = append(out, providers.Lookup{Kind: KindPool, By: ByName, Value: poolName(string(p.Protocol), PortRange{p.Port, p.Port}, p.NodePort)})
		}
	}
	return providers.Scope{Owner: id.Owner, Own: out}
}

// OnDelete are the annotations that say where something of a Service is.
func OnDelete() []string { return []string{nameKey.Name} }

// Scope returns what to look up for a Service that is served.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places, id.Ports = map[string]string{nameKey.Name: nameKey.Get(in.Values)}, in.Backends.Ports
	s := OwnedScope(id)
	if id.Places[nameKey.Name] != "" && len(rangesKey.Get(in.Values)) > 0 {
		for _, p := range in.Backends.Ports {
			s.Own = append(s.Own, providers.Lookup{Kind: KindPool, By: ByName, Value: poolName(string(p.Protocol), rangeOf(in, p.Port), p.NodePort)})
		}
	}
	for _, in := range in.Service.Status.LoadBalancer.Ingress {
		if in.Hostname != "" && id.Places[nameKey.Name] != "" {
			s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: ByHost, Value: in.Hostname})
		}
	}
	s.Facts = []providers.Lookup{{Kind: FactSubnets}}
	for _, text := range subnetsKey.Get(in.Values) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactSubnets, Value: text})
	}
	for _, text := range groupsKey.Get(in.Values) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactGroups, Value: text})
	}
	if len(outboundKey.Get(in.Values)) > 0 {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactGroups, Value: WorkerGroup(in.Config.ClusterID)}, providers.Lookup{Kind: FactOutbound})
	}
	if in.Kind == NLB {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactNetworks})
	}
	s.Nodes = in.Backends.Nodes
	return s, nil
}

// MayWant reports whether a Service that cannot be built might need a shared entry: no kind
// of this cloud has any.
func MayWant(Identity, stack.Resource) bool { return false }
