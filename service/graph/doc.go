// Package graph describes the topology of a load balancer: the ports of its Service, the resources
// that serve them, and the other Services that use the same resources. The package does no I/O;
// start at [Build].
package graph
