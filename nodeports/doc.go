// Package nodeports turns a Service, the Nodes and the EndpointSlices into
// Backends: which nodes or pods, on which ports, with which health check, stand
// behind a load balancer.
//
// Everything here is a pure function of its arguments. The package must not
// talk to an API server or a cloud, read the clock, log, or know a provider:
// what one cloud does differently is a Filter or a Fallback that its provider
// passes in. Output is sorted, so that the same cluster gives the same bytes.
//
// Start with Backends in backends.go. Nodes reach it through Project (node.go)
// and Select or an Interner (nodeset.go, interner.go); ports, endpoints, health
// check and source ranges each have a file of their own.
package nodeports
