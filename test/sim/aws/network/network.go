package network

import (
	"cmp"
	"time"
)

// VPC is a virtual network.
type VPC struct {
	ID, CIDR string
	// IPv6CIDR is empty for a VPC without an IPv6 block.
	IPv6CIDR string
}

// Subnet is a part of a VPC in one zone.
type Subnet struct {
	ID, VPC, Zone, CIDR, IPv6CIDR string
	// FreeAddresses counts the IPv4 addresses that nothing uses yet.
	FreeAddresses int
}

// Group is a security group.
type Group struct{ ID, Name, VPC, Owner string }

// Instance is a virtual machine. State is one of EC2's words, such as
// "running" or "terminated".
type Instance struct{ ID, VPC, Subnet, Zone, PrivateIP, State string }

// Address is an elastic IP address. AssociatedWith is empty while it is free;
// otherwise it names the interface, instance or load balancer that holds it.
type Address struct{ AllocationID, PublicIP, AssociatedWith string }

// Interface is a network interface that a load balancer wants in a subnet.
type Interface struct {
	Subnet, Description string
	// Type is EC2's word, such as "interface" or "network_load_balancer".
	Type string
	// PrivateIP is empty where any free address will do.
	PrivateIP string
	Groups    []string
}

// Path is one target behind one port of a load balancer.
type Path struct {
	Balancer string // ARN of a Network Load Balancer, name of a Classic one
	Owner    string // of its interfaces
	Groups   []string
	Dual     bool   // it has addresses of IPv6, too
	Protocol string // TCP or UDP
	Port     int
	// Target is the id of an instance, or an address.
	Target     string
	TargetPort int
	IPv6       bool // the target has an address of IPv6
	// Preserves reports whether the target sees the addresses of clients.
	Preserves bool
}

// ComparePaths sorts paths by load balancer, port and target.
func ComparePaths(a, b Path) int {
	return cmp.Or(cmp.Compare(a.Balancer, b.Balancer), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Target, b.Target), cmp.Compare(a.TargetPort, b.TargetPort))
}

// Directory looks up network objects by id, and has the network interfaces of load balancers,
// which people see and which use addresses of the subnets. It is safe for concurrent use.
// An object that an eventually consistent read would not show yet is absent.
type Directory interface {
	VPC(id string) (VPC, bool)
	Subnet(id string) (Subnet, bool)
	Group(id string) (Group, bool)
	// DefaultGroup returns the security group of load balancers that are made without any.
	DefaultGroup(vpc string) (Group, bool)
	Instance(id string) (Instance, bool)
	Address(id string) (Address, bool)
	// Attach sets the interfaces of an owner to the desired ones, one in each subnet; the ones
	// that stay keep their addresses.
	Attach(owner string, want []Interface)
	// Detach takes all interfaces of an owner away, after a time.
	Detach(owner string, after time.Duration)
	// InUse reports whether an address of a subnet is taken.
	InUse(subnet, ip string) bool
}

// Users lists the users of a network object, each by a short readable name such as "load
// balancer a1b2". EC2 calls it before it deletes a security group or subnet or releases an
// address, and holds no lock of its own meanwhile, so that a load balancer simulator may call
// the Directory under its own lock.
type Users interface {
	GroupUsers(id string) []string
	AddressUsers(id string) []string
}

// AllUsers joins several Users into one; their answers follow each other in order.
type AllUsers []Users

// GroupUsers lists the users of a security group.
func (all AllUsers) GroupUsers(id string) []string {
	return all.gather(func(u Users) []string { return u.GroupUsers(id) })
}

// AddressUsers lists the users of an elastic IP address, by allocation id.
func (all AllUsers) AddressUsers(id string) []string {
	return all.gather(func(u Users) []string { return u.AddressUsers(id) })
}

func (all AllUsers) gather(ask func(Users) []string) []string {
	var out []string
	for _, u := range all {
		out = append(out, ask(u)...)
	}
	return out
}
