package providers

import (
	"slices"

	"github.com/berth-lb/berth/nodeports"
)

// Follow returns the members of a load balancer that is kept while its Service cannot be
// built: nodes, made of today's nodes, where a found member is one of this cluster's nodes.
// Others, such as pods, are unknown to the controller and stay unchanged.
func Follow[M any](found, nodes []M, isNode func(M) bool) []M {
	if !slices.ContainsFunc(found, isNode) {
		return found
	}
	return nodes
}

// FollowPort returns the port of a Service whose pods are behind a port of its load balancer: the one with this
// number, of this protocol if there are two. False: the Service has no such port any more, and another one is
// returned, since all ports of a Service have the same pods.
func FollowPort(ports []nodeports.ServicePort, number int32, protocol string) (port nodeports.ServicePort, known bool) {
	for _, p := range ports {
		same := p.Port == number
		if same && string(p.Protocol) == protocol {
			return p, true
		}
		if same || !known {
			port, known = p, known || same
		}
	}
	return port, known
}
