// Package compute simulates the parts of Compute Engine that load balancers of
// a Kubernetes cluster are made of: forwarding rules, addresses, target pools,
// backend services, health checks, instance groups, network endpoint groups and
// firewalls, the networks, subnetworks and instances that those need,
// and the operations that every change is.
//
// It enforces the rules of the real API and answers in its words. It knows
// nothing of Kubernetes, and nothing of faults but what a request tells it.
//
// Start with New, then API.Do; collection describes what all resources share.
package compute
