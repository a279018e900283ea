package nodeports

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// Endpoint is one backend of a port of the Service, usually a pod.
type Endpoint struct {
	Addr        netip.Addr
	Port        int32  // the pod's port, a named target port already resolved
	Node        string // empty for endpoints outside the cluster
	Zone        string // empty if not known
	Terminating bool   // not ready, and used because no endpoint was ready or because of the fallback
	Pod         string // UID; empty for endpoints that are no pods
	Name        string // of the pod; empty for endpoints that are no pods
}

// PortEndpoints are the endpoints of one Service port in one family.
type PortEndpoints struct {
	Family corev1.IPFamily
	Port   ServicePort
	List   []Endpoint // sorted by address and port; may be empty
}

// Endpoints are the endpoints of a Service: an entry for each of its families and
// ports, families in the order of the Service, ports as in Ports.
type Endpoints struct {
	ByPort []PortEndpoints
	// Hosts are, sorted, the nodes with an endpoint that is not terminating, ready or
	// not: for kinds whose health check determines the serving nodes.
	Hosts   []string
	Skipped []string // names of slices that hold no addresses (FQDN), sorted
}

// Fallback is the scope within which terminating endpoints are used when no ready
// one is left.
type Fallback int

const (
	// FallbackPerService uses them if the Service's port has no ready endpoint at all,
	// for load balancers where every backend can accept every connection.
	FallbackPerService Fallback = iota
	// FallbackPerNode uses them on each node without a ready endpoint, as kube-proxy
	// does for externalTrafficPolicy Local.
	FallbackPerNode
	// KeepTerminating returns them beside ready ones, for load balancers that let open
	// connections end.
	KeepTerminating
	// KeepUnready returns unready endpoints beside ready ones, whether they terminate or not.
	KeepUnready
)

// FallbackOf returns the fallback that kube-proxy uses for the Service. A kind of
// load balancer that forwards to pods directly and ignores the policy always uses
// FallbackPerService. Source: KEP-1669.
func FallbackOf(svc *corev1.Service) Fallback {
	if LocalOnly(svc) {
		return FallbackPerNode
	}
	return FallbackPerService
}

// candidate is an endpoint before it is known whether it is needed.
type candidate struct {
	Endpoint
	ready bool
}

// EndpointsOf collects the endpoints of a Service with some families and ports from its
// slices, whose order does not matter. It returns ready endpoints; if there are none, within the scope of
// the fallback, terminating ones that still serve, or all with KeepUnready. All others get no traffic.
// Slices of other Services must not be passed.
func EndpointsOf(families []corev1.IPFamily, ports []ServicePort, epslices []*discoveryv1.EndpointSlice, fallback Fallback) Endpoints {
	var out Endpoints
	for _, s := range epslices {
		if s.AddressType != discoveryv1.AddressTypeIPv4 && s.AddressType != discoveryv1.AddressTypeIPv6 {
			out.Skipped = append(out.Skipped, s.Name)
		}
	}
	slices.Sort(out.Skipped)
	out.Hosts = endpointNodes(epslices)
	for _, family := range families {
		for _, port := range ports {
			var found []candidate
			for _, s := range epslices {
				if string(s.AddressType) != string(family) {
					continue
				}
				if number, ok := portIn(s, port); ok {
					found = append(found, servingEndpoints(s, number, fallback == KeepUnready)...)
				}
			}
			out.ByPort = append(out.ByPort, PortEndpoints{Family: family, Port: port, List: chooseEndpoints(uniqueEndpoints(found), fallback)})
		}
	}
	return out
}

// endpointNodes returns the nodes of all endpoints that are not terminating.
func endpointNodes(epslices []*discoveryv1.EndpointSlice) []string {
	var out []string
	for _, s := range epslices {
		for _, e := range s.Endpoints {
			if node := orElse(e.NodeName, ""); node != "" && !orElse(e.Conditions.Terminating, false) {
				out = append(out, node)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// For returns the endpoints of a Service port in a family.
func (e Endpoints) For(family corev1.IPFamily, port string) []Endpoint {
	for _, p := range e.ByPort {
		if p.Family == family && p.Port.Name == port {
			return p.List
		}
	}
	return nil
}

// Nodes lists, sorted, the nodes that run an endpoint of any port and family.
func (e Endpoints) Nodes() []string {
	var names []string
	for _, p := range e.ByPort {
		for _, ep := range p.List {
			if ep.Node != "" {
				names = append(names, ep.Node)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// portIn returns the number that a slice gives to the Service port. Slices repeat
// the Service port's name, whatever its name in the pods, and several slices can
// give one name different numbers: named target ports can differ between pods.
func portIn(s *discoveryv1.EndpointSlice, port ServicePort) (int32, bool) {
	for _, p := range s.Ports {
		name, protocol := "", corev1.ProtocolTCP
		if p.Name != nil {
			name = *p.Name
		}
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		// A slice port without a number means all ports, which no Service has.
		if name == port.Name && protocol == port.Protocol && p.Port != nil && *p.Port != 0 {
			return *p.Port, true
		}
	}
	return 0, false
}

// portsIn returns the ports that slices have, by name and protocol.
func portsIn(epslices []*discoveryv1.EndpointSlice) []ServicePort {
	var out []ServicePort
	for _, s := range epslices {
		for _, p := range s.Ports {
			one := ServicePort{Name: orElse(p.Name, ""), Protocol: orElse(p.Protocol, corev1.ProtocolTCP)}
			if !slices.ContainsFunc(out, func(o ServicePort) bool { return o.Name == one.Name && o.Protocol == one.Protocol }) {
				out = append(out, one)
			}
		}
	}
	slices.SortFunc(out, func(a, b ServicePort) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Protocol, b.Protocol))
	})
	return out
}

// servingEndpoints returns the serving endpoints of a slice, or all. Of an endpoint's addresses
// only the first counts, and a condition that is not set means ready, serving and not
// terminating. Source: k8s.io/api/discovery/v1.
func servingEndpoints(s *discoveryv1.EndpointSlice, port int32, all bool) []candidate {
	var out []candidate
	for _, e := range s.Endpoints {
		if len(e.Addresses) == 0 {
			continue
		}
		addr, ok := parseAddr(e.Addresses[0])
		if !ok {
			continue
		}
		ready := orElse(e.Conditions.Ready, true)
		lingers := orElse(e.Conditions.Serving, true) && orElse(e.Conditions.Terminating, false)
		if !ready && !lingers && !all {
			continue
		}
		pod, name := podOf(e)
		out = append(out, candidate{ready: ready, Endpoint: Endpoint{
			Addr: addr, Port: port,
			Node: orElse(e.NodeName, ""), Zone: orElse(e.Zone, ""), Terminating: !ready,
			Pod: pod, Name: name,
		}})
	}
	return out
}

// podOf returns the UID and the name of the pod of an endpoint; empty: none.
func podOf(e discoveryv1.Endpoint) (uid, name string) {
	if e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
		return "", ""
	}
	return string(e.TargetRef.UID), e.TargetRef.Name
}

// uniqueEndpoints sorts and keeps each address and port once. While an endpoint moves
// between slices it is in both for a moment; the ready one is kept, then the one with
// node and zone.
func uniqueEndpoints(found []candidate) []candidate {
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(
			a.Addr.Compare(b.Addr), cmp.Compare(a.Port, b.Port),
			-cmp.Compare(rankCandidate(a), rankCandidate(b)),
			cmp.Compare(b.Node, a.Node), cmp.Compare(b.Zone, a.Zone),
		)
	})
	return slices.CompactFunc(found, func(a, b candidate) bool { return a.Addr == b.Addr && a.Port == b.Port })
}

func rankCandidate(c candidate) int {
	if c.ready {
		return 1
	}
	return 0
}

func chooseEndpoints(found []candidate, fallback Fallback) []Endpoint {
	hasReady := map[string]bool{}
	bound := func(c candidate) string {
		if fallback == FallbackPerNode {
			return c.Node
		}
		return ""
	}
	for _, c := range found {
		if c.ready {
			hasReady[bound(c)] = true
		}
	}
	out := make([]Endpoint, 0, len(found)) // usually all: they are kept for long
	for _, c := range found {
		if c.ready || fallback == KeepTerminating || fallback == KeepUnready || !hasReady[bound(c)] {
			out = append(out, c.Endpoint)
		}
	}
	return out
}

func orElse[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}
