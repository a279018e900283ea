package model

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/stack"
)

// Kinds of facts, for look-ups in Scope.Facts.
const (
	// FactSubnet is a subnet by its OCID, with the security list that rules go to.
	FactSubnet stack.Kind = "subnet"
	// FactGroup asks whether a network security group exists, by its OCID.
	FactGroup stack.Kind = "network-security-group"
	// FactOwnGroup says that the Service's own group is wanted, so that it must be readable.
	FactOwnGroup stack.Kind = "own-network-security-group"
	// FactMachines are the subnets that instances are in: Value is the compartment. Those
	// of the nodes of Scope.Nodes are among them.
	FactMachines stack.Kind = "machine-subnets"
	// FactAddress is a reserved address: Value is the address, or the OCID of a private
	// one. One of IPv6, and a private one, is of a subnet, whose OCID is By.
	FactAddress stack.Kind = "reserved-ip"
	// FactCompartment is a compartment that the Service names, by its OCID.
	FactCompartment stack.Kind = "compartment"
	// FactAccount is the ServiceAccount whose identity makes the calls for the Service:
	// Value is its name, in the Service's namespace. By is ByOwner where the controller's
	// own identity is used if the ServiceAccount is not found, else ByWanted.
	FactAccount stack.Kind = "service-account"
)

// Subnet is a subnet of a VCN.
type Subnet struct {
	ID, VCN string
	// Domain is the availability domain of one that is in one; empty: it is regional.
	Domain string
	CIDR   netip.Prefix
	CIDR6  []netip.Prefix
	// List is the security list of the subnet that rules go to: the configured one, else
	// the oldest.
	List string
}

// ReservedIP is an address that a tenancy has set aside.
type ReservedIP struct {
	ID        string
	Subnet    string // that it is of; empty: of none, as public ones of IPv4
	Available bool   // nothing has it
	User      string // OCID of what has it
}

// Facts is what Build may know of the cloud. It is shared between Services and never
// written to after a read.
type Facts struct {
	// Subnets are by OCID: the requested subnets that exist, and the subnets of the
	// Services' load balancers, whatever annotations name.
	Subnets   map[string]Subnet
	Groups    map[string]bool       // network security groups by OCID; the requested ones that exist
	Unseen    map[string]bool       // compartments by OCID; the requested ones that were not found, or are not visible
	Machines  []Subnet              // the subnets of the instances, by OCID
	Addresses map[string]ReservedIP // by the Value of the look-up
}

// Holds reports whether an address belongs to the subnet.
func (s Subnet) Holds(a netip.Addr) bool {
	return s.CIDR.Contains(a) || slices.ContainsFunc(s.CIDR6, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Of are those of the subnets that addresses are of, in one VCN.
func Of(all []Subnet, vcn string, addresses []netip.Addr) []Subnet {
	return slices.DeleteFunc(slices.Clone(all), func(s Subnet) bool { return s.VCN != vcn || !slices.ContainsFunc(addresses, s.Holds) })
}
