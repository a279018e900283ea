package model

// Facts is what Build may know of Azure. It is shared between Services and never
// written to after a read.
type Facts struct {
	// Balancers are the cluster's load balancers that exist, sorted by name; see
	// Config.balancers for the exact names that count.
	Balancers []FoundBalancer
	// PublicIPs are those of the groups that the scope asked for, sorted by group
	// and name.
	PublicIPs []FoundIP
	// Groups are the groups whose public IPs were listed, lower case; one that does
	// not exist is missing here.
	Groups  []string
	Subnets map[string]FoundSubnet // by name in lower case: those the scope asked for that exist
	Zones   []string               // of the region; empty without zones
	// Security reports that the network security group exists. SecurityUnread reports
	// that the credentials do not allow to read it, so that it may or may not exist.
	Security, SecurityUnread bool
	// Machines are the nodes of the scope that Azure knows, by provider id in lower
	// case. Only read in the mode nodeIPConfiguration, and where there are several
	// load balancers and a node whose provider id does not name its scale set.
	Machines map[string]Machine
	// LinkGroups are the groups whose private link services were listed, as Groups.
	LinkGroups []string
	// Links are the private link services of the group that the scope asked for.
	Links []FoundLink
	// NoGateway tells that a look has shown no service gateway. Only looked for where
	// pools are of pods.
	NoGateway bool
	// Ahead are the new Services of the kind that were seen before this one and are on
	// no load balancer yet, in that order. Only where there are several load balancers.
	Ahead []Wish
}

// Wish is what a new Service would put on a load balancer, and on which ones it may.
type Wish struct {
	Rules int
	On    []string // names without suffix, lower case, in the order of the configuration
}

// FoundBalancer is a load balancer as all Services see it.
type FoundBalancer struct {
	Name      string
	SKU       string
	Rules     int // number of load balancing rules
	Frontends []FoundFrontend
	Pools     []string
	Tags      Tags
	// Members are the addresses in the pools that rules of Services send to, sorted,
	// each once. Only read where there are several load balancers.
	Members []string
}

// FoundFrontend is a frontend of any owner.
type FoundFrontend struct {
	Frontend
	// Users are the rules that send from it, by name; Held tells that outbound or
	// NAT rules do, or a private link service.
	Users []string
	Held  bool
	// Serves lists the ports of those rules, in the order of Users.
	Serves []ServedPort
}

// ServedPort is what one rule of a load balancer forwards.
type ServedPort struct {
	Protocol string // Tcp, Udp, All
	Port     int32  // 0: every port
	// NodePort is set where the security group sees the address of the node; see toNode.
	NodePort int32
}

// FoundIP is a public IP of any owner.
type FoundIP struct {
	Group, Name string // the group in lower case
	Address     string // empty: none yet
	Version     string // IPv4 or IPv6
	SKU         string
	Tags        Tags
	DNSLabel    string
	IPTags      Tags
	Attached    string // ARM id of what uses it, lower case; empty: free
	Services    []string
	Cluster     string // of the ownership tag
	DNSService  string // the Service that set the label, by tag
}

// Managed reports whether a controller created the public IP.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func (p FoundIP) Managed() bool { return len(p.Services) > 0 }

// FoundSubnet is a subnet of the cluster's virtual network.
type FoundSubnet struct {
	Name           string
	ID             string
	Prefixes       []string
	PolicyDisabled bool
}

// Machine is what stands behind a node.
type Machine struct {
	// NIC is the primary network interface, lower case; empty for instances of
	// uniform scale sets.
	NIC string
	// ScaleSet is the ARM id of the scale set, lower case; empty for single machines.
	ScaleSet string
	Instance string // instance id in a uniform scale set
	Flex     bool
	// Set is the name of the scale set or availability set, lower case; empty: none.
	Set string
	// Out says in words why the machine cannot be in a pool now (deleting, stopped,
	// interface failed); empty: it can.
	Out string
}

// FoundLink is a private link service of any owner.
type FoundLink struct {
	Group, Name string   // the group in lower case
	Frontends   []string // "<lb>/<frontend>", lower case
	Tags        Tags
}
