// Package ibm simulates the part of IBM Cloud that load balancers of a VPC need, over HTTP:
// the load balancers of the VPC API with their listeners, pools and members, subnets, tokens
// of IAM, and resource groups.
//
// All objects are JSON documents in one store. Every accepted write makes its load balancer
// refuseBusy for a while, and other writes of it are refused meanwhile.
//
// Start at [New].
package ibm
