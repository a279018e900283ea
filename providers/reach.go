package providers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Reach is the effect of a Service beyond itself: the input of a policy, independent
// of the cloud. It describes the request, whether or not the resources exist.
type Reach struct {
	// Kind is the kind of load balancer that the Service would get today.
	Kind string
	// Internet reports whether clients outside of the network could connect.
	Internet bool
	// Scheme is the setting that Internet follows from. Without a value, its Key is the
	// place to set it.
	Scheme annotations.Origin
	// Internal is the value for an internal load balancer.
	Internal string
	// Names are resources that the Service names and does not own.
	Names []Naming
	// Opens are security groups that the Service names and that the nodes then admit on
	// all ports, not only on those of the Service.
	Opens []Naming
	// Beyond are resources of other namespaces that the Service names: they are legal only
	// if a rule of the policy names them.
	Beyond []Naming
	Size   Size
}

// Naming is one resource that a Service names, in an annotation or a field.
type Naming = annotations.Named

// Thing is a kind of resources that Services name.
type Thing = annotations.Thing

// WithoutReported returns the namings without keys that the controller may have written
// itself: the desired state shows whether they are the Service's own.
func WithoutReported(names []Naming) []Naming {
	return slices.DeleteFunc(slices.Clone(names), func(n Naming) bool { return n.Reported })
}

// AddressField returns the address that spec.loadBalancerIP names.
func AddressField(svc *corev1.Service) []Naming {
	if svc.Spec.LoadBalancerIP == "" {
		return nil
	}
	return []Naming{{Thing: annotations.ThingAddress, Key: "spec.loadBalancerIP", Value: svc.Spec.LoadBalancerIP}}
}
