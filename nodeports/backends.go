package nodeports

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// Backends are the backends of a load balancer: the value that a provider's
// Build receives. Build uses Nodes and the ports' NodePort for kinds that forward
// to nodes, Endpoints for kinds that forward to pods.
type Backends struct {
	Families  []corev1.IPFamily // the Service's, primary first, never empty
	Nodes     NodeSet
	Virtual   NodeSet       // nodes that are no backends themselves, while their pods are
	Ports     []ServicePort // in the order of the Service
	Missing   NodePortMissing
	Endpoints Endpoints
	Health    Health
	Pending   []string // nodes that wait for a provider id; not behind the load balancer yet
}

// BackendsOf computes the backends of a Service. The nodes are selected before, by
// Select or an Interner, with the filter of the kind of load balancer. The slices
// belong to this Service and can be nil for kinds that never forward to pods.
func BackendsOf(svc *corev1.Service, nodes NodeSet, epslices []*discoveryv1.EndpointSlice, fallback Fallback) Backends {
	families, ports := Families(svc), Ports(svc)
	return Backends{
		Families:  families,
		Nodes:     nodes,
		Ports:     ports,
		Missing:   MissingNodePorts(svc),
		Endpoints: EndpointsOf(families, ports, epslices, fallback),
		Health:    HealthOf(svc),
		Pending:   nodes.Pending(),
	}
}

// BackendsIn computes the backends in slices that belong to no Service: all ports of the slices, and all endpoints, ready
// or not.
func BackendsIn(epslices []*discoveryv1.EndpointSlice) Backends {
	if len(epslices) == 0 {
		return Backends{}
	}
	families := []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	return Backends{Families: families, Endpoints: EndpointsOf(families, portsIn(epslices), epslices, KeepUnready)}
}

// Digest returns a short hash of everything that changes a load balancer: equal
// digests, equal stacks. Pending nodes and skipped slices are left out, because they
// are only reported to the user.
func (b Backends) Digest() string {
	d := newDigest()
	d.number(len(b.Families))
	for _, f := range b.Families {
		d.text(string(f))
	}
	d.text(b.Nodes.Digest(), string(b.Health.Source), b.Health.Path)
	d.number(int(b.Health.Port))
	d.number(len(b.Ports))
	for _, p := range b.Ports {
		d.port(p)
	}
	d.number(len(b.Endpoints.ByPort))
	for _, p := range b.Endpoints.ByPort {
		d.text(string(p.Family))
		d.port(p.Port)
		d.number(len(p.List))
		for _, e := range p.List {
			d.text(e.Addr.String(), e.Node, e.Zone, e.Pod)
			d.number(int(e.Port))
			d.flag(e.Terminating)
		}
	}
	if len(b.Endpoints.Hosts) > 0 {
		d.number(len(b.Endpoints.Hosts))
		d.text(b.Endpoints.Hosts...)
	}
	if b.Virtual.Len() > 0 {
		d.text(b.Virtual.Names()...)
	}
	d.flag(b.Missing.Disabled)
	return d.sum()
}

func (d digest) port(p ServicePort) {
	d.text(p.Name, string(p.Protocol), p.TargetPort.String(), p.AppProtocol)
	d.number(int(p.TargetPort.Type))
	d.number(int(p.Port))
	d.number(int(p.NodePort))
}

func (d digest) flag(on bool) {
	if on {
		d.number(1)
		return
	}
	d.number(0)
}
