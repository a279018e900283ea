package model

import (
	"net/netip"

	"github.com/berth-lb/berth/stack"
)

// Kinds of facts, for look-ups in Scope.Facts.
const (
	// FactNodeSubnet is the subnet of a node's address: By is the server's id, Value the
	// address.
	FactNodeSubnet stack.Kind = "node-subnet"
	// FactSubnet is a subnet by its id.
	FactSubnet stack.Kind = "subnet"
	// FactExternal is the first external network with IPv4.
	FactExternal stack.Kind = "external-network"
	// FactExternalNetwork is an external network by its id.
	FactExternalNetwork stack.Kind = "external-network-id"
	// FactFloatingSubnets are the subnets of an external network: By is the network's
	// id, or empty for the first external one, Value the tags that are asked for.
	FactFloatingSubnets stack.Kind = "floating-subnets"
	// FactFloatingIP is a floating IP by its address.
	FactFloatingIP stack.Kind = "floating-ip"
	// FactNetworkSubnets are the subnets of a network by its id.
	FactNetworkSubnets stack.Kind = "network-subnets"
	// FactNodePorts are the ports of the servers of Scope.Nodes.
	FactNodePorts stack.Kind = "node-ports"
	// FactSecret asks whether a certificate exists: Value is its address.
	FactSecret stack.Kind = "certificate"
	// FactClaim tells which Service is the oldest to ask for a port of a load balancer; see
	// ClaimOf.
	FactClaim stack.Kind = "port-claim"
)

// Subnet is a subnet of a network.
type Subnet struct {
	ID, Name, Network string
	CIDR              netip.Prefix
}

// NodePort is an address of a port of a server.
type NodePort struct {
	ID, Address, Subnet string
	Secured             bool // it takes security groups
}

// Address is an existing floating IP.
type Address struct {
	ID, IP, Port string // Port: the id of the port that it is bound to
	Description  string
}

// Facts is what Build may know of the cloud. It is shared between Services and never
// written to after a read.
type Facts struct {
	NodeSubnets     map[string]string     // id of the subnet by address of a node
	Subnets         map[string]Subnet     // by id; the requested ones that exist
	External        string                // id of the first external network
	Externals       map[string]bool       // external networks by id; the requested ones that exist
	FloatingSubnets map[string][]Subnet   // by By and Value of the look-up, with a blank between
	Addresses       map[string]Address    // by IP
	Secrets         map[string]bool       // by address
	NetworkSubnets  map[string][]Subnet   // by id of the network
	NodePorts       map[string][]NodePort // by id of the server
	Claims          map[string]Claim      // the oldest ones, by ClaimKey
}
