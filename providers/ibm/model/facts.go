package model

import "github.com/berth-lb/berth/stack"

// Facts of look-ups in Scope.Facts beside subnets.
const (
	// FactGroups are the security groups of the region. Value is the id or name of one that
	// the Service names.
	FactGroups stack.Kind = "security-groups"
	// FactOutbound are the rules of the nodes' security group.
	FactOutbound stack.Kind = "outbound-rules"
	// FactNetworks counts the network load balancers of the cluster in each subnet.
	FactNetworks stack.Kind = "network-load-balancers"
)

// FactSubnets are the subnets of the region, for look-ups in Scope.Facts. Value is the id, name
// or range of one that the Service names; empty: those of the cluster.
const FactSubnets stack.Kind = "subnets"

// Subnet is a subnet of a VPC.
type Subnet struct {
	ID, Name, CIDR, Zone string
	VPC                  string // name
}

// IsNamed reports whether a text is the id, the name or the IPv4 range of the subnet.
func (s Subnet) IsNamed(text string) bool { return text == s.ID || text == s.Name || text == s.CIDR }

// Facts is what Build may know of the cloud. It is shared between Services and never
// written to after a read.
type Facts struct {
	Subnets  []Subnet
	Groups   []SecurityGroup
	Outbound []Rule         // rules of the nodes' security group that no Service's name marks
	Networks map[string]int // network load balancers of the cluster by the id of their subnet
}

// SecurityGroup is a security group of a VPC.
type SecurityGroup struct {
	ID, Name string
	VPC      string // name
}

// IsNamed reports whether a text is the id or the name of the security group.
func (g SecurityGroup) IsNamed(text string) bool { return text == g.ID || text == g.Name }
