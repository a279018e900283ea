package model

import "github.com/berth-lb/berth/stack"

// FactSubnets are the subnets of the region, for look-ups in Scope.Facts.
const FactSubnets stack.Kind = "subnets"

// Subnet is a subnet of a VPC.
type Subnet struct {
	ID, Name, CIDR, Zone string
	VPC                  string // name
}

// Facts is what Build may know of the cloud. It is shared between Services and never
// written to after a read.
type Facts struct {
	Subnets []Subnet
}
