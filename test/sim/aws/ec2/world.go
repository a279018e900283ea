package ec2

import "time"

// Tags are the tags of one resource.
type Tags map[string]string

// VPC is a virtual network with its default security group and main route table.
type VPC struct {
	ID, CIDR, IPv6CIDR string
	Default            bool
}

// Subnet is a part of a VPC in one zone.
type Subnet struct {
	ID, VPC, Zone, CIDR, IPv6CIDR string
	PublicIPOnLaunch              bool
	DefaultForZone                bool
}

// Group is a security group with its rules in the order they were made.
type Group struct {
	ID, Name, Description, VPC string
	Ingress, Egress            []Rule
	Created                    time.Time
}

// Rule is one security group rule. Its identity is everything but ID and
// Description. Exactly one of CIDR, IPv6CIDR, PrefixList and Group is set.
type Rule struct {
	ID string
	// Protocol is tcp, udp, icmp, icmpv6, -1 for all, or a number.
	Protocol string
	// From and To are ports, or ICMP type and code; HasPorts is false for the
	// protocols that have neither.
	From, To int
	HasPorts bool

	CIDR, IPv6CIDR, PrefixList, Group string
	Description                       string
}

func (r Rule) same(o Rule) bool {
	o.ID, o.Description = r.ID, r.Description
	return r == o
}

// Instance is a virtual machine. Its groups and addresses are those of its interfaces.
type Instance struct {
	ID, Reservation, Image, Type string
	VPC, Subnet, Zone, PrivateIP string
	// State is running, stopped or terminated.
	State    string
	Launched time.Time
	Reason   string
	// Ended is when it was terminated.
	Ended time.Time
}

// Interface is an elastic network interface.
type Interface struct {
	ID, VPC, Subnet, Zone, Description, MAC string
	Groups                                  []string
	// IPs are the private IPv4 addresses, the primary one first.
	IPs []string
	// IPv6s are the IPv6 addresses.
	IPv6s []string `json:",omitempty"`
	// Instance is empty for an interface that is attached to none.
	Instance            string
	DeviceIndex         int
	DeleteOnTermination bool
	Attached            time.Time
	// Owner is the load balancer that has the interface, by its key there. Kind is the type
	// of an interface that is none of the ordinary ones: of a load balancer, trunk of an
	// instance, branch of a pod.
	// Source: Amazon EC2 API reference, DescribeNetworkInterfaces, filter interface-type.
	Owner, Kind string
}

// Address is an elastic IP address. Its holder, if any, is a load balancer.
type Address struct{ ID, PublicIP string }

// Association binds a route table to a subnet, or to the VPC when Main is set.
type Association struct {
	ID, Subnet string
	Main       bool
}

// Route is one route; exactly one destination is set.
type Route struct{ CIDR, IPv6CIDR, Gateway, Origin string }

// RouteTable is a route table.
type RouteTable struct {
	ID, VPC      string
	Associations []Association
	Routes       []Route
}

// PrefixList is a list of CIDRs that rules can name.
type PrefixList struct {
	ID         string
	MaxEntries int
}

// World is everything the simulator holds, each list sorted by id. It is what
// Load takes and Snapshot gives.
type World struct {
	VPCs        []VPC
	Subnets     []Subnet
	Groups      []Group
	Instances   []Instance
	Interfaces  []Interface
	Addresses   []Address
	RouteTables []RouteTable
	PrefixLists []PrefixList
	// Tags are by resource id.
	Tags map[string]Tags
}
