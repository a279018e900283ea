// Package network is the rules of Microsoft.Network in the Azure simulator:
// load balancers, public addresses and prefixes, security groups, networks,
// interfaces, private link services and endpoints, route tables, NAT gateways, and
// service gateways with what is registered in them.
//
// It holds no state of its own but counters; resources live in arm.State.
//
// Start with New.
package network
