package model

import (
	"cmp"

	"github.com/berth-lb/berth/stack"
)

// Kinds of resources where pools are of pods (loadBalancerSku service): every
// Service has a load balancer of its own, and a service gateway sends to its pods.
// Names begin with the UID in lower case.
const (
	KindContainer   stack.Kind = "container-load-balancer" // owned; name: <uid>
	KindContainerIP stack.Kind = "container-public-ip"     // owned; name: <uid>-pip
	KindGateway     stack.Kind = "service-gateway"         // an object, never ours; name: <group>/<gateway>
	KindRegistered  stack.Kind = "gateway-service"         // owned, In the gateway; name: <uid>
	KindAttached    stack.Kind = "gateway-service-pool"    // owned, In the gateway-service; name: <uid>
	KindPods        stack.Kind = "gateway-addresses"       // owned, In the gateway; name: <uid>
)

// Container is a load balancer of the SKU Service. All of it is one Service's and
// is written in one PUT; its one pool has no members of its own.
type Container struct {
	Group    string // resource group, lower case
	Name     string
	PublicIP stack.Ref // to the container-public-ip
	Rules    []Rule    // sorted by name; without probes
	Pools    []string  // names
	SKU      string    // found only, never compared
	// Trouble is set after a failed operation; never desired.
	Trouble string
}

// ContainerIP is the public IP of a Container: it is deleted with it and has no tags.
type ContainerIP struct {
	Group   string // lower case
	Name    string
	Version string // "IPv4" or "IPv6"
	// Found only, never compared.
	Address string
	SKU     string
	// Trouble is set after a failed operation; never desired.
	Trouble string
}

// Registered is the Service as a service gateway knows it.
type Registered struct {
	Group, Gateway string // the group in lower case
	Name           string // the UID
}

// Attached is the pool that a service gateway fills for a service.
type Attached struct {
	// Pool is RefTo(containerKey(uid)) for the load balancer's own pool; found and
	// anything else: the ids as they are.
	Pool stack.Ref
}

// Pods are the places of pods under which a service gateway has a service.
type Pods struct {
	Service   stack.Ref    // to the gateway-service
	Addresses []PodAddress // sorted
}

// PodAddress is one pod on one node; comparable.
type PodAddress struct {
	Location string // address of the node
	Address  string // of the pod
}

func (a PodAddress) compare(b PodAddress) int {
	return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Address, b.Address))
}
