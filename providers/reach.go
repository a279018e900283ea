package providers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Reach is how far a Service reaches beyond itself: what a policy has to know of
// a request without knowing the cloud. It says what the user asks for, whether or
// not that exists.
type Reach struct {
	// Kind is the kind of load balancer that the Service would get today.
	Kind string
	// Internet tells whether clients outside of the network could come in.
	Internet bool
	// Scheme is what decides on Internet. If nobody said anything, its Key is where
	// one would say it.
	Scheme annotations.Origin
	// Internal is what to write there for an internal load balancer.
	Internal string
	// Names are the things that the Service names although it does not own them.
	Names []Naming
	// Opens are the security groups that the Service names and that the nodes then let in
	// on all ports, not only on those of the Service.
	Opens []Naming
	// Beyond are the things of other namespaces that the Service names: it may only where
	// a rule of the policy names them.
	Beyond []Naming
	Size   Size
}

// Naming is one thing that a Service names, in an annotation or a field.
type Naming = annotations.Named

// Thing is a kind of thing that Services name.
type Thing = annotations.Thing

// WithoutReported returns the namings without keys that the controller may have written
// itself: the desired state shows whether they are the Service's own.
func WithoutReported(names []Naming) []Naming {
	return slices.DeleteFunc(slices.Clone(names), func(n Naming) bool { return n.Reported })
}

// AddressField is what spec.loadBalancerIP names.
func AddressField(svc *corev1.Service) []Naming {
	if svc.Spec.LoadBalancerIP == "" {
		return nil
	}
	return []Naming{{Thing: annotations.ThingAddress, Key: "spec.loadBalancerIP", Value: svc.Spec.LoadBalancerIP}}
}
