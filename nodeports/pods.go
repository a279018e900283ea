package nodeports

import (
	"net/netip"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// PodAt reports whether a pod of the Service's namespace has an address; on the node, if
// one is named.
type PodAt func(addr netip.Addr, node string) bool

// OwnPods returns the slices without endpoints that belong to no pod of their namespace,
// and the addresses that were left out, sorted. The slices that were passed are unchanged.
// A user with write access to EndpointSlices can put any address into them.
func OwnPods(all []*discoveryv1.EndpointSlice, at PodAt) (kept []*discoveryv1.EndpointSlice, unmatched []netip.Addr) {
	foreign := func(e discoveryv1.Endpoint) bool {
		if len(e.Addresses) == 0 {
			return false // it gets no traffic anyway
		}
		addr, ok := parseAddr(e.Addresses[0])
		if ok && at(addr, orElse(e.NodeName, "")) {
			return false
		}
		if ok {
			unmatched = append(unmatched, addr)
		}
		return true
	}
	for _, s := range all {
		if own := slices.DeleteFunc(slices.Clone(s.Endpoints), foreign); len(own) < len(s.Endpoints) {
			shorter := *s
			shorter.Endpoints = own
			s = &shorter
		}
		kept = append(kept, s)
	}
	slices.SortFunc(unmatched, netip.Addr.Compare)
	return kept, slices.Compact(unmatched)
}

// OnNodes returns the slices with the endpoints on some nodes alone. The slices that were passed are unchanged.
func OnNodes(all []*discoveryv1.EndpointSlice, nodes NodeSet) []*discoveryv1.EndpointSlice {
	if nodes.Len() == 0 {
		return nil
	}
	elsewhere := func(e discoveryv1.Endpoint) bool {
		_, ok := nodes.Get(orElse(e.NodeName, ""))
		return !ok
	}
	var out []*discoveryv1.EndpointSlice
	for _, s := range all {
		if here := slices.DeleteFunc(slices.Clone(s.Endpoints), elsewhere); len(here) > 0 {
			shorter := *s
			shorter.Endpoints = here
			out = append(out, &shorter)
		}
	}
	return out
}
