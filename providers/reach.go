package providers

import (
	"fmt"

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

// Naming is one thing that a Service names.
type Naming struct {
	Thing Thing
	Key   string // annotation as the user wrote it, or field
	Value string // one name, id or address
}

// Thing says what is named; one word for all clouds, so that one policy file can
// be read without knowing which cloud it is for.
type Thing string

// All things that Services can name.
const (
	ThingAddress       Thing = "address"        // a static address, by name, id or number
	ThingAddressPrefix Thing = "address-prefix" // where an address comes from
	ThingBucket        Thing = "bucket"
	ThingCertificate   Thing = "certificate"
	ThingDNSLabel      Thing = "dns-label"
	ThingLink          Thing = "link" // a private link service
	ThingLoadBalancer  Thing = "load-balancer"
	ThingResourceGroup Thing = "resource-group"
	ThingSecurityGroup Thing = "security-group"
	ThingAccount       Thing = "service-account" // of Kubernetes, in the Service's namespace
	ThingSubnet        Thing = "subnet"
	ThingTargetGroup   Thing = "target-group"
)

// Things lists all of them, by name.
func Things() []Thing {
	return []Thing{ThingAddress, ThingAddressPrefix, ThingBucket, ThingCertificate, ThingDNSLabel, ThingLink,
		ThingLoadBalancer, ThingResourceGroup, ThingSecurityGroup, ThingAccount, ThingSubnet, ThingTargetGroup}
}

// NamedBy lists what a key with one value names; nothing if it is not there.
func NamedBy[T comparable](bag *annotations.Bag, thing Thing, keys ...*annotations.Key[T]) []Naming {
	var out []Naming
	for _, key := range keys {
		value, origin, ok := key.Lookup(bag)
		if text := fmt.Sprint(value); ok && text != "" {
			out = append(out, Naming{Thing: thing, Key: origin.Key, Value: text})
		}
	}
	return out
}

// NamedByList lists what keys with lists name.
func NamedByList[T any](bag *annotations.Bag, thing Thing, keys ...*annotations.Key[[]T]) []Naming {
	var out []Naming
	for _, key := range keys {
		values, origin, _ := key.Lookup(bag)
		for _, v := range values {
			out = append(out, Naming{Thing: thing, Key: origin.Key, Value: fmt.Sprint(v)})
		}
	}
	return out
}

// AddressField is what spec.loadBalancerIP names.
func AddressField(svc *corev1.Service) []Naming {
	if svc.Spec.LoadBalancerIP == "" {
		return nil
	}
	return []Naming{{Thing: ThingAddress, Key: "spec.loadBalancerIP", Value: svc.Spec.LoadBalancerIP}}
}
