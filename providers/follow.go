package providers

import "slices"

// Follow returns the members of a load balancer that is kept while its Service cannot be
// built: nodes, made of today's nodes, where a found member is one of this cluster's nodes.
// Others, such as pods, are unknown to the controller and stay unchanged.
func Follow[M any](found, nodes []M, isNode func(M) bool) []M {
	if !slices.ContainsFunc(found, isNode) {
		return found
	}
	return nodes
}
