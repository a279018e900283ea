package model

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Ways to look resources up.
const (
	// ByTag is the UID in the tags of the Service's own load balancer and address.
	ByTag = "tag"
	// ByID is the id of a load balancer that the Service names.
	ByID = "id"
	// ByAddedID is the id that an open controller has written on the Service.
	ByAddedID = "added id"
	// ByName is a name of normal load balancers of the open controllers.
	ByName = "name"
	// ByNodePort is a port with its node port: evidence for a listener that the controller of CCE has created.
	ByNodePort = "node port"
	// ByReserve is a load balancer of the Service's own that stays when the Service is deleted.
	ByReserve = "reserve"
)

// OwnedScope returns where anything that the Service may own can be found.
func OwnedScope(id Identity) providers.Scope {
	own := []providers.Lookup{{Kind: KindAddress, By: ByTag, Value: id.Owner.UID}}
	by := ByTag
	if isReserved(id.Places) {
		by = ByReserve
	}
	own = append(own, providers.Lookup{Kind: KindBalancer, By: by, Value: id.Owner.UID})
	if named := cmp.Or(id.Places[idKey.Name], id.Places[existKey.Name]); named != "" {
		own = append(own, providers.Lookup{Kind: KindBalancer, By: ByID, Value: named})
		for _, p := range id.Ports {
			own = append(own, providers.Lookup{Kind: KindListener, By: ByNodePort, Value: NodePortName(string(p.Protocol), p.Port, p.NodePort)})
		}
	} else if added := id.Places[addedKey.Name]; added != "" {
		own = append(own, providers.Lookup{Kind: KindBalancer, By: ByAddedID, Value: added})
	}
	for _, name := range OlderNames(id.Config.ClusterID, id.Owner) {
		own = append(own, providers.Lookup{Kind: KindBalancer, By: ByName, Value: name})
	}
	if name := id.Places[nameKey.Name]; name != "" {
		own = append(own, providers.Lookup{Kind: KindBalancer, By: ByName, Value: name})
	}
	return providers.Scope{Owner: id.Owner, Own: own}
}

// isReserved reports whether annotations ask to keep the load balancer. A value that is not legal keeps it.
func isReserved(notes map[string]string) bool {
	return notes[reserveKey.Name] != "" && notes[reserveKey.Name] != "false"
}

// BeforeDelete returns the observed resources of a Service that keeps its load balancer: only the public
// address is deleted, and it is unbound before.
func BeforeDelete(_ Identity, svc *corev1.Service, have *stack.Stack) []stack.Resource {
	if svc == nil || !isReserved(svc.Annotations) {
		return nil
	}
	var out []stack.Resource
	for _, r := range have.Resources {
		if spec, ok := r.Spec.(Balancer); ok && spec.EIP.To == AddressKey() {
			spec.EIP = stack.Ref{}
			r.Spec = spec
		}
		if r.Key.Kind != KindAddress && !providers.IsDuplicate(r.Key) {
			out = append(out, r)
		}
	}
	return out
}

// OnDelete are the annotations that say where something of a Service is, and whether it stays.
func OnDelete() []string {
	return []string{idKey.Name, existKey.Name, addedKey.Name, nameKey.Name, reserveKey.Name}
}

// Scope returns what to look up for a Service that is served.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places = map[string]string{
		idKey.Name: idKey.Get(in.Values), existKey.Name: existKey.Get(in.Values), addedKey.Name: addedKey.Get(in.Values), nameKey.Name: nameKey.Get(in.Values),
	}
	id.Ports = in.Backends.Ports
	s := OwnedScope(id)
	s.Nodes = in.Backends.Nodes
	return s, nil
}

// MayWant reports whether a Service that cannot be built might need a shared entry: no kind of this
// cloud has any.
func MayWant(Identity, stack.Resource) bool { return false }
