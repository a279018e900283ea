package ec2

import "time"

// Tags are the tags of one resource.
type Tags map[string]string

// VPC is a virtual network with its default security group and main route table.
type VPC struct {
	ID, CIDR, IPv6CIDR string
	Default            bool
	DNSHostnames       bool
	DNSSupport         bool
	UsageMetrics       bool
	// Dedicated is set when machines have hardware of their own by default.
	Dedicated bool
	// MoreCIDRs are the secondary IPv4 blocks.
	MoreCIDRs []string
}

// Subnet is a part of a VPC in one zone.
type Subnet struct {
	ID, VPC, Zone, CIDR, IPv6CIDR string
	PublicIPOnLaunch              bool
	IPv6OnLaunch                  bool
	DefaultForZone                bool
	DNS64                         bool
	Names                         LaunchNames
}

// LaunchNames says which private names machines get in a subnet. An empty Type is ip-name.
type LaunchNames struct {
	Type    string
	A, AAAA bool
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
	ID, Reservation, Image, Type, Key string
	VPC, Subnet, Zone, PrivateIP      string
	// State is pending, running, stopping, stopped, shutting-down or terminated.
	State       string
	Launched    time.Time
	LaunchIndex int
	ClientToken string
	Reason      string
	// Ended is when it was terminated.
	Ended time.Time
	// SourceDestCheckOff is set for machines that forward traffic.
	SourceDestCheckOff bool
	Switches           Switches
}

// Switches are the settings of a machine that are on or off.
type Switches struct {
	NoTerminate, NoStop     bool
	Monitored, EBSOptimized bool
}

// Interface is an elastic network interface.
type Interface struct {
	ID, VPC, Subnet, Zone, Description, MAC string
	Groups                                  []string
	// IPs are the private IPv4 addresses, the primary one first.
	IPs  []string
	IPv6 []string
	// PublicIP is the public address that Amazon lent the primary one; an elastic
	// address takes its place.
	PublicIP string
	// Instance is empty for an interface that is attached to none.
	Instance            string
	DeviceIndex         int
	DeleteOnTermination bool
	SourceDestCheckOff  bool
	Attached            time.Time
	// Owner is the load balancer that has the interface, by its key there; Kind is
	// the type of such an interface.
	Owner, Kind string
}

// Address is an elastic IP address. It is associated with an interface or free.
type Address struct {
	ID, PublicIP                      string
	Association, Interface, PrivateIP string
}

// Gateway is an internet gateway; VPC is empty while it is detached.
type Gateway struct{ ID, VPC string }

// Association binds a route table to a subnet, or to the VPC when Main is set.
type Association struct {
	ID, Subnet string
	Main       bool
}

// Route is one route; exactly one destination and one target are set.
type Route struct {
	CIDR, IPv6CIDR, PrefixList              string
	Gateway, Instance, Interface, NATTarget string
	// Origin is CreateRouteTable or CreateRoute.
	Origin string
}

// RouteTable is a route table.
type RouteTable struct {
	ID, VPC      string
	Associations []Association
	Routes       []Route
}

// NATGateway is a way out of a subnet. PublicIP is empty for a private one.
type NATGateway struct {
	ID, VPC, Subnet, Interface      string
	Allocation, PublicIP, PrivateIP string
	// State is available or deleted.
	State            string
	Created, Deleted time.Time
}

// PrefixList is a managed list of CIDRs; Owner is "AWS" for Amazon's own.
type PrefixList struct {
	ID, Name, Family, Owner string
	MaxEntries, Version     int
	Entries                 []PrefixEntry
}

// PrefixEntry is one CIDR of a prefix list.
type PrefixEntry struct{ CIDR, Description string }

// World is everything the simulator holds, each list sorted by id. It is what
// Load takes and Snapshot gives.
type World struct {
	VPCs        []VPC
	Subnets     []Subnet
	Groups      []Group
	Instances   []Instance
	Interfaces  []Interface
	Addresses   []Address
	Gateways    []Gateway
	RouteTables []RouteTable
	PrefixLists []PrefixList
	NATGateways []NATGateway `json:",omitempty"`
	// Tags are by resource id.
	Tags map[string]Tags
}
