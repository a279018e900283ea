package model

import (
	corev1 "k8s.io/api/core/v1"

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
)

// preserveName is the end of the key that keeps a load balancer when the Service is deleted.
const preserveName = "preserve-lb-on-delete"

// OwnedScope returns where anything that the Service may own can be found. A load balancer that
// is kept when the Service is deleted is its own only while it has the owner tag.
func OwnedScope(id Identity) providers.Scope {
	name := DefaultName(id.Owner)
	s := providers.Scope{Owner: id.Owner, Own: []providers.Lookup{{Kind: KindBalancer, By: ByTag, Value: name}}}
	if !isPreserved(id.Places) {
		s.Own = append(s.Own, providers.Lookup{Kind: KindBalancer, By: ByName, Value: name})
	}
	return s
}

// isPreserved reports whether annotations ask to keep the load balancer: an empty value of the
// present spelling hides the deprecated one.
func isPreserved(notes map[string]string) bool {
	keep, given := notes[prefix+preserveName]
	if !given {
		keep = notes[oldPrefix+preserveName]
	}
	return keep != ""
}

// BeforeDelete returns the observed resources of a Service that keeps its load balancer: nothing is
// deleted, and the load balancer is given back.
func BeforeDelete(_ Identity, svc *corev1.Service, have *stack.Stack) []stack.Resource {
	if svc == nil || !isPreserved(svc.Annotations) {
		return nil
	}
	var out []stack.Resource
	for _, r := range have.Resources {
		if spec, ok := r.Spec.(Balancer); ok {
			spec.Returned = true
			r.Spec = spec
		}
		out = append(out, r)
	}
	return out
}

// OnDelete are the annotations that decide what is deleted with a Service.
func OnDelete() []string { return []string{prefix + preserveName, oldPrefix + preserveName} }

// Scope returns what to look up for a Service that is served.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places = nil
	s := OwnedScope(id)
	s.Nodes = in.Backends.Nodes
	return s, nil
}

// MayWant reports whether a Service that cannot be built might need a shared entry: no kind
// of this cloud has any.
func MayWant(Identity, stack.Resource) bool { return false }
