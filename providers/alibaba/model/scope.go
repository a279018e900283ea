package model

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Ways to look load balancers up. Value is the default name.
const (
	// ByTag is the owner tag.
	ByTag = "tag"
	// ByName is the name of a load balancer without an owner tag. One with the tag is
	// preferred.
	ByName = "name"
	// ByID is the id of a load balancer of others, or of a server group with the name of the
	// Service's servers in it and the port, with blanks between.
	ByID = "id"
	// ByLabel is the id of the load balancer that the Service was on last.
	ByLabel = "label"
	// ByServed says that the Service is served and not released, and its kind.
	ByServed = "served"
	// ByAssociation is the elastic IP addresses of the load balancer.
	ByAssociation = "association"
	// ByListener is the further certificates of listeners.
	ByListener = "listener"
)

// preserveName is the end of the key that keeps a load balancer when the Service is deleted.
const preserveName = "preserve-lb-on-delete"

// OwnedScope returns where anything that the Service may own can be found. A load balancer that
// is kept when the Service is deleted is its own only while it has the owner tag.
func OwnedScope(id Identity) providers.Scope {
	name := DefaultName(id.Owner)
	s := providers.Scope{Owner: id.Owner}
	own := func(by, value string) {
		s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: by, Value: value}, providers.Lookup{Kind: KindNetBalancer, By: by, Value: value})
	}
	own(ByTag, name)
	s.Own = append(s.Own, providers.Lookup{Kind: KindServerGroup, By: ByTag, Value: name})
	if !strings.HasPrefix(id.Places[labelBalancer], classicPrefix) && !isPreserved(id.Places) { // a Classic Load Balancer joins none
		s.Own = append(s.Own, providers.Lookup{Kind: KindSecurityGroup, By: ByTag, Value: name})
	}
	if isPreserved(id.Places) {
		return s
	}
	own(ByName, name)
	lb := placeOf(id.Places, idName)
	if last := id.Places[labelBalancer]; last != "" && last != lb {
		own(ByLabel, last)
	}
	if lb != "" {
		own(ByID, lb)
		groups, _ := parseGroupPorts(placeOf(id.Places, groupPortsName)) // what is wrong was never applied
		for _, p := range id.Ports {
			if group := groups[p.Port]; group != "" {
				s.Own = append(s.Own, groupLookups(id, group, fmt.Sprint(p.NodePort), p, netProtocols()...)...)
				s.Own = append(s.Own, groupLookups(id, group, p.TargetPort.String(), p, netProtocols()...)...)
			}
		}
	}
	return s
}

// classicPrefix begins the ids of Classic Load Balancers.
const classicPrefix = "lb-"

// netGroupPrefix begins the ids of server groups of network load balancers.
const netGroupPrefix = "sgp-"

// groupLookups looks a server group of others up. That of a network load balancer has a name for each
// protocol that the port may have.
func groupLookups(id Identity, group, port string, of nodeports.ServicePort, protocols ...string) []providers.Lookup {
	lookup := func(kind stack.Kind, key, name string) providers.Lookup {
		return providers.Lookup{Kind: kind, By: ByID, Value: strings.Join([]string{group, key, fmt.Sprint(of.Port), name}, " ")}
	}
	if !strings.HasPrefix(group, netGroupPrefix) {
		return []providers.Lookup{lookup(KindGroup, port, GroupName(port, id.Owner, id.Config.ClusterID))}
	}
	var out []providers.Lookup
	for _, protocol := range protocols {
		if strings.EqualFold(netTransport(protocol), string(of.Protocol)) {
			out = append(out, lookup(KindServerGroup, port+"."+protocol, NetName(port, protocol, id.Owner, id.Config.ClusterID)))
		}
	}
	return out
}

// placeOf returns an annotation in its present or deprecated spelling. An empty value of the
// present one hides the deprecated one.
func placeOf(notes map[string]string, name string) string {
	if value, given := notes[prefix+name]; given {
		return value
	}
	return notes[oldPrefix+name]
}

// isPreserved reports whether annotations ask to keep the load balancer.
func isPreserved(notes map[string]string) bool { return placeOf(notes, preserveName) != "" }

// BeforeDelete returns the observed resources of a Service that keeps its load balancer: nothing is
// deleted, and the load balancer is given back.
func BeforeDelete(_ Identity, svc *corev1.Service, have *stack.Stack) []stack.Resource {
	if svc == nil || !isPreserved(svc.Annotations) {
		return nil
	}
	var out []stack.Resource
	for _, r := range have.Resources {
		if providers.IsDuplicate(r.Key) || providers.IsDuplicate(r.In) {
			continue
		}
		switch spec := r.Spec.(type) {
		case Balancer:
			spec.Returned = true
			r.Spec = spec
		case NetBalancer:
			spec.Returned = true
			r.Spec = spec
		case ServerGroup:
			spec.Returned = r.Proof == stack.Tag
			r.Spec = spec
		}
		out = append(out, r)
	}
	return out
}

// OnDelete are the annotations, and the label, that decide what is deleted with a Service.
func OnDelete() []string {
	return []string{prefix + preserveName, oldPrefix + preserveName, prefix + idName, oldPrefix + idName, prefix + groupPortsName, oldPrefix + groupPortsName, labelBalancer}
}

// Scope returns what to look up for a Service that is served.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places = nil
	s := OwnedScope(id)
	s.Nodes = in.Backends.Nodes
	own := func(kind stack.Kind, by, value string) {
		s.Own = append(s.Own, providers.Lookup{Kind: kind, By: by, Value: value})
	}
	both := func(by, value string) {
		own(KindBalancer, by, value)
		own(KindNetBalancer, by, value)
	}
	both(ByServed, in.Kind)
	lb := idKey.Get(in.Values)
	if lb != "" {
		both(ByID, lb)
		for _, p := range in.Backends.Ports {
			if group := groupPortsKey.Get(in.Values)[p.Port]; group != "" {
				s.Own = append(s.Own, groupLookups(in.Identity, group, backendPort(in, p), p, protocolOf(in, p))...)
			}
		}
	}
	if last := in.Service.Labels[labelBalancer]; last != "" && last != lb {
		both(ByLabel, last)
	}
	if statusKey.Get(in.Values) != "" {
		own(KindPublic, ByAssociation, "")
	}
	if _, _, given := domainsKey.Lookup(in.Values); given {
		own(KindDomain, ByListener, "")
	}
	if _, _, given := moreCertsKey.Lookup(in.Values); given {
		own(KindNetListener, ByListener, "")
	}
	s.Facts = factsFor(in)
	return s, nil
}

// factsFor returns the look-ups of facts of a Service.
func factsFor(in Input) []providers.Lookup {
	var out []providers.Lookup
	for _, id := range SplitIDs(listsKey.Get(in.Values)) {
		out = append(out, providers.Lookup{Kind: FactList, Value: id})
	}
	counted := !usesPods(in) && nodeports.LocalOnly(in.Service) // pods are the weight of nodes
	asked := map[providers.Lookup]bool{}
	for _, p := range in.Backends.Ports {
		for _, family := range familiesOf(in) {
			for _, e := range in.Backends.Endpoints.For(family, p.Name) {
				if l := (providers.Lookup{Kind: FactInterface, By: e.Pod, Value: e.Addr.String()}); !asked[l] && (!counted || isOnVirtual(in, e)) {
					asked[l] = true
					out = append(out, l)
				}
			}
		}
	}
	return out
}

// MayWant reports whether a Service that cannot be built might need a shared entry: no kind
// of this cloud has any.
func MayWant(Identity, stack.Resource) bool { return false }
