package model

// Subnet is what the choice of subnets needs to know of one.
type Subnet struct {
	ID, VPC, Zone, CIDR string
	Name                string // the tag Name
	Tags                Tags
	CIDR6               string `json:",omitempty"` // its IPv6 range
	Full                bool   `json:",omitempty"` // has fewer free addresses than a load balancer needs
	Public              bool   // its route table, or else the VPC's main one, has a route to an internet gateway
	ZoneType            string // availability-zone, local-zone, wavelength-zone; empty: unknown
}

// NodeGroup is a security group of nodes, with the rules that it has.
type NodeGroup struct {
	ID    string
	Name  string
	Tags  Tags
	Rules []FoundRule
}

// FoundRule is one rule as found, with its description.
type FoundRule struct {
	Permission
	Description string
}

// Instance is the machine of a node, as observed.
type Instance struct {
	ID     string
	Zone   string
	Subnet string
	Groups []string // security groups, sorted
	// Stopped says that it does not run: a target group does not take it.
	Stopped bool `json:",omitempty"`
	// Trunk says that pods on it may have network interfaces of their own.
	Trunk bool `json:",omitempty"`
}

// Given is a load balancer by whose name a Service asks for it.
type Given struct {
	ARN, Type, VPC string
	Maker          string // the owner of its controller, in words; empty: none
}

// Facts is what Build may know of AWS. It is shared between Services and never
// written to after a read.
type Facts struct {
	// Cluster is the cluster's tag: from the configuration, else from the tags of
	// our own instance; zero for an untagged cluster.
	Cluster    ClusterTag
	OwnSubnet  string // where we run, by configuration or as found; may be empty
	VPC        string
	Subnets    []Subnet    // of the VPC, sorted by id
	NodeGroups []NodeGroup // every group that carries the cluster tag or that an instance of the scope has, sorted by id
	// GroupNames are those of the groups that Classic Load Balancers of the cluster
	// have for themselves, by id.
	GroupNames map[string]string
	Instances  map[string]Instance // the nodes of the scope that exist, by id
	Quota      TargetQuota
	// PodGroups are the security groups of pods that have network interfaces of their own,
	// by address.
	PodGroups map[string][]string `json:",omitempty"`
	// PodsUnseen says that our role may not ask for those.
	PodsUnseen bool `json:",omitempty"`
	// Servers are the ids of pods for QUIC, by the pods' UIDs.
	Servers map[string]Servers `json:",omitempty"`
	// NamedGroups are the ids of security groups of the VPC by the tag Name, of the names
	// that Services give.
	NamedGroups map[string][]string
	// Absent are names that Services give and that AWS does not have: security groups that a
	// list does not show, and, as RefusedTo has it, what AWS has refused lately.
	Absent map[string]bool `json:",omitempty"`
	// Given are the load balancers that Services name although others have made them, by
	// name; of a name that nothing has there is none.
	Given map[string]Given

	members *members // the same as lists, made once for all Services; may be nil
}
