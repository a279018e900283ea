package model

import "github.com/berth-lb/berth/stack"

// Kinds of facts, for look-ups in Scope.Facts.
const (
	// FactSubnets: all subnets of the region in the cluster's network, By byNetwork.
	FactSubnets stack.Kind = "subnetworks"
	// FactZones: the zones of the region, with Multizone; else nothing is asked.
	FactZones stack.Kind = "zones"
	// FactInstances: the instances of the managed zones; they are asked for where
	// node tags or the members of target pools have to be found.
	FactInstances stack.Kind = "instances"
	// FactGroups: instance groups that another tool manages, with KeepGroups.
	FactGroups stack.Kind = "instance-groups"
	// FactAddresses: reserved addresses of the region, ByName or ByIP.
	FactAddresses stack.Kind = "addresses"
	// FactRules: forwarding rules of the region on an address, by the IP (ByIP) or by
	// the name of its reservation (ByName).
	FactRules stack.Kind = "forwarding-rules"
)

// Ways to look facts up besides ByName.
const (
	byNetwork = "network"
	ByIP      = "ip"
	byRegion  = "region"
)

// Subnet is a subnetwork of the region.
type Subnet struct {
	Name       string
	Path       string // with project
	Network    string // path with project
	CIDR       string // primary range
	StackType  string // IPV4_ONLY, IPV4_IPV6, IPV6_ONLY
	IPv6Access string // EXTERNAL, INTERNAL; empty: none
	Ready      bool
}

// Instance is the machine of a node, as observed.
type Instance struct {
	Zone    string
	Tags    []string // network tags
	Stopped bool     // it is stopped or suspended, or about to be
}

// Reserved is a reserved address of the region.
type Reserved struct {
	Name      string
	IP        string // canonical
	IPVersion string // IPV4 also where the cloud says nothing
	Type      string // EXTERNAL, INTERNAL
	Tier      string
	Subnet    string   // path with project
	Users     []string // paths of what has it, sorted
	Purpose   string   // of internal ones: GCE_ENDPOINT, SHARED_LOADBALANCER_VIP
	// IPCollection is the public delegated prefix that it is from, as the cloud answers.
	IPCollection string
}

// OtherRule is a forwarding rule on an address that a Service asks for, of whatever owner.
type OtherRule struct {
	Name        string
	Description string
	Scheme      string // EXTERNAL, INTERNAL
	Network     string // path with project; empty for external IPv4
	IP          string // canonical, IPv6 without prefix length
	Protocol    string // TCP, UDP, L3_DEFAULT
	Ports       Ports
}

// Facts is what Build may know of the cloud. It is shared between Services and
// never written to after a read.
type Facts struct {
	// Zones are the managed ones, sorted: of the whole region with Multizone,
	// else the local one.
	Zones []string
	// Network and Subnet are the cluster's: configured, or as the environment
	// says. Subnet is empty where it cannot be known.
	Network, Subnet string
	Legacy          bool                // the network is a legacy one, without subnets
	Subnets         []Subnet            // sorted by name; empty if they were not asked for or cannot be read
	Instances       map[string]Instance // by name; nil if not asked for
	Groups          []string            // paths of instance groups that another tool manages, sorted
	// Unfit are instances that cannot be members although they have nodes, with the
	// reason; empty unless a refusal made them be looked up.
	Unfit     map[string]string
	Addresses []Reserved  // the requested ones that exist, sorted by name
	Rules     []OtherRule // those on the addresses that were asked for, sorted by name
}
