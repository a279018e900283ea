// Package oci simulates the part of Oracle Cloud Infrastructure that load balancers
// need, over HTTP: the Load Balancer and Network Load Balancer services, and of the
// core services the network and the instances.
//
// All objects are JSON documents in one store; what an API does with them is in the
// files named after it. A change of a load balancer is a work request that takes its
// time, and while it runs other changes of that load balancer are refused.
//
// Start at [New].
package oci
