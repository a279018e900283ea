package model

import "github.com/berth-lb/berth/stack"

// The look-ups that a session supports, by kind:
//
//	Own    classic-load-balancer    name          the load balancer's name
//	Own    network-load-balancer    name          the load balancer's name
//	Own    security-group           name          a group's name, in our VPC
//	Own    target-group             prefix        the first letters of its name
//	Own    target-group             service-name  the tag of the Service, namespace/name
//	Own    network-load-balancer    stack         the tag of the Service of kind nlb-lbc, namespace/name
//	Own    network-load-balancer    moved         the same tag and that of kind nlb on one that has been of both
//	Own    target-group             stack         the tag of the Service of kind nlb-lbc, namespace/name
//	Own    shared-security-group    name          the group's name, in our VPC
//	Own    shared-network-load-balancer  group    a group of Services, namespace/name, or
//	                                                      the name of a load balancer of others
//	Facts  security-group           tag-name      groups of our VPC with the tag Name
//	Facts  shared-network-load-balancer  name     the load balancer with the name that a Service gives
//	Facts  listener-attributes      wanted        read the attributes of listeners as well
//	Facts  listener-certificates    wanted        read the other certificates of TLS listeners as well
//	Facts  capacity-reservation     wanted        read the capacity of the load balancer as well
//	Facts  target-group             wanted        read the tags of target groups and listeners as well
//	Facts  subnets                  vpc           all subnets of our VPC
//	Facts  node-security-group      nodes         the groups of the nodes, and the instances
//	Facts  node-security-group      address       an instance, or - for a node that is none, and addresses
//	                                              of pods there: the groups of pods that have their own
//	Facts  pods                     selector      a namespace and the labels of pods, as a query
//	Facts  pods                     uid           a pod: its ids for QUIC
//	Facts  target-group-attributes  wanted        read the attributes of target groups as well
//	Facts  targets                  wanted        read only the targets that this cluster has registered
//	Facts  network-load-balancer    wanted        the Service is to have one, so the rules that
//	                                              all such share in node groups are its as well
const (
	ByName        = "name"
	ByPrefix      = "prefix"
	ByServiceName = "service-name"
	ByVPC         = "vpc"
	ByNodes       = "nodes"
	ByWanted      = "wanted"
	ByNamespace   = "namespace" // what begins the names of the target groups of a namespace
	ByStack       = "stack"     // the tag of the Service of the AWS Load Balancer Controller, namespace/name
	ByMoved       = "moved"     // the tags of the Service of both kinds of Network Load Balancers, namespace/name
	ByAddress     = "address"
	BySelector    = "selector"
	ByUID         = "uid"
	ByTagName     = "tag-name" // the tag Name
	ByGroup       = "group"    // a group of Services, or a load balancer of others
)

// KindSubnets is no resource of ours: it is asked for as a fact only.
const KindSubnets stack.Kind = "subnets"

// KindPods are objects of the cluster, asked for as facts.
const KindPods stack.Kind = "pods"
