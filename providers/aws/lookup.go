package aws

import "github.com/berth-lb/berth/stack"

// The look-ups that a session understands, by kind:
//
//	Own    classic-load-balancer    name          the load balancer's name
//	Own    network-load-balancer    name          the load balancer's name
//	Own    security-group           name          a group's name, in our VPC
//	Own    target-group             prefix        the first letters of its name
//	Own    target-group             service-name  the tag of the Service, namespace/name
//	Facts  subnets                  vpc           all subnets of our VPC
//	Facts  node-security-group      nodes         the groups of the nodes, and the instances
//	Facts  target-group-attributes  wanted        read the attributes of target groups as well
//	Facts  network-load-balancer    wanted        the Service is to have one, so the rules that
//	                                              all such share in node groups are its as well
const (
	byName        = "name"
	byPrefix      = "prefix"
	byServiceName = "service-name"
	byVPC         = "vpc"
	byNodes       = "nodes"
	byWanted      = "wanted"
)

// kindSubnets is no resource of ours: it is asked for as a fact only.
const kindSubnets stack.Kind = "subnets"
