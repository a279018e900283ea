package model

import (
	"net/netip"

	"github.com/berth-lb/berth/stack"
)

// Kinds of facts, for look-ups in Scope.Facts.
const (
	// FactList is an access control list by its id.
	FactList stack.Kind = "access-control-list"
	// FactInterface is the network interface of a pod: By is the UID of the pod, Value its
	// address.
	FactInterface stack.Kind = "network-interface"
)

// Facts is what Build may know of the cloud. It is shared between Services and never
// written to after a read.
type Facts struct {
	Lists map[string]List // by id; the requested ones that exist
	// Interfaces are the ids of network interfaces by InterfaceKey; the requested ones that exist.
	Interfaces map[string]string
}

// InterfaceKey tells pods apart: an address moves to another pod, and then to another interface.
func InterfaceKey(pod string, address netip.Addr) string { return pod + " " + address.String() }
