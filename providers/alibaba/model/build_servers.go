package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// backendPort returns the port that names the server group of a port: the node port, or the
// target port of pods, a number or a name.
func backendPort(in Input, p nodeports.ServicePort) string {
	switch {
	case !usesPods(in) && p.NodePort == 0:
		return "" // reported by check
	case !usesPods(in):
		return strconv.Itoa(int(p.NodePort))
	case p.TargetPort.String() == "0":
		return strconv.Itoa(int(p.Port))
	}
	return p.TargetPort.String()
}

// group adds the server group of a port, and returns its key. Ports with one backend port share a
// group.
func (b *builder) group(p nodeports.ServicePort, port string) (key stack.Key, ok bool) {
	key = GroupKey(port)
	found, exists := b.have.Get(key)
	existing, _ := found.Spec.(VServerGroup)
	named := groupPortsKey.Get(b.in.Values)[p.Port]
	if named != "" && b.isExternal() && !b.mayUseGroup(found, exists, named, existing.Name) {
		return key, false
	}
	if _, done := b.out.Get(key); done {
		return key, true
	}
	servers := serversOf(b.in, b.facts, p)
	b.reportUnknown(p)
	if total, _, given := totalWeightKey.Lookup(b.in.Values); given && named != "" {
		shareWeight(servers, total, nodeports.LocalOnly(b.in.Service) && !usesPods(b.in))
	}
	b.out.Put(stack.Resource{Key: key, In: balancerKey(), Spec: VServerGroup{
		Name: GroupName(port, b.in.Owner, b.in.Config.ClusterID), Servers: b.keepWeights(servers, existing.Servers), Shared: existing.Shared,
	}})
	return key, true
}

// mayUseGroup reports whether the Service may use the server group that it names.
func (b *builder) mayUseGroup(found stack.Resource, exists bool, named, name string) bool {
	switch {
	case !exists || found.ID != named:
		b.problems = append(b.problems, groupPortsKey.Refusal(b.in.Values, "has "+named+", which is no server group of the load balancer "+idKey.Get(b.in.Values), "server groups of this load balancer"))
		return false
	case found.Proof == stack.None:
		b.problems = append(b.problems, groupPortsKey.Refusal(b.in.Values, fmt.Sprintf("has %s, which a controller has created as %q", named, name), "server groups that you have created"))
		return false
	}
	return true
}

// shareWeight divides a weight among servers, evenly or in proportion to their weights, with 1 at
// least.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/vgroups.go.
func shareWeight(servers []Server, total int, inProportion bool) {
	sum := 0
	for _, s := range servers {
		sum += s.Weight
	}
	for i, s := range servers {
		switch {
		case total == 0 || s.Weight == 0:
			servers[i].Weight = 0
		case inProportion:
			servers[i].Weight = max(total*s.Weight/sum, 1)
		default:
			servers[i].Weight = max(total/len(servers), 1)
		}
	}
}

// familyOf returns the family of pods that are backends.
func familyOf(in Input) corev1.IPFamily {
	if in.Kind == NLB {
		if backendFamily(in) == ipv6 {
			return corev1.IPv6Protocol
		}
		return corev1.IPv4Protocol
	}
	if in.Config.DualStack && ipVersionKey.Get(in.Values) == ipv6 && strings.EqualFold(backendFamilyKey.Get(in.Values), ipv6) {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// familiesOf returns the families of pods that are backends.
func familiesOf(in Input) []corev1.IPFamily {
	if in.Kind == NLB && backendFamily(in) == dualstack {
		return []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	}
	return []corev1.IPFamily{familyOf(in)}
}

// serversOf returns the backends of a port: pods by their network interfaces, or all nodes, or
// with externalTrafficPolicy Local those with endpoints, with the number of them as weight.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/vgroups.go.
func serversOf(in Input, facts *Facts, p nodeports.ServicePort) []Server {
	if usesPods(in) {
		return podsOf(in, facts, p)
	}
	out := append(nodesOf(in, p), virtualPods(in, facts, p)...)
	slices.SortFunc(out, CompareServers)
	return out
}

// isOnVirtual reports whether a pod is on a virtual node, so that it is a backend beside nodes.
func isOnVirtual(in Input, e nodeports.Endpoint) bool {
	_, virtual := in.Backends.Virtual.Get(e.Node)
	return virtual
}

// virtualPods returns the pods of a port on virtual nodes. With externalTrafficPolicy Local each counts as one pod.
func virtualPods(in Input, facts *Facts, p nodeports.ServicePort) []Server {
	if in.Backends.Virtual.Len() == 0 || facts == nil {
		return nil
	}
	out := podsWhere(in, facts, p, familyOf(in), func(e nodeports.Endpoint) bool { return isOnVirtual(in, e) })
	if nodeports.LocalOnly(in.Service) {
		for i := range out {
			out[i].Weight = min(out[i].Weight, 1)
		}
	}
	return out
}

// nodesOf returns the nodes of a port.
func nodesOf(in Input, p nodeports.ServicePort) []Server {
	pods := map[string]int{}
	local := nodeports.LocalOnly(in.Service)
	if local {
		for _, e := range in.Backends.Endpoints.For(familyOf(in), p.Name) {
			pods[e.Node]++
		}
	}
	weight := weightOf(in)
	out := make([]Server, 0, in.Backends.Nodes.Len())
	for n := range in.Backends.Nodes.All() {
		s := Server{ID: InstanceOf(n.ProviderID), Type: ServerECS, Port: p.NodePort, Weight: weight}
		if local {
			s.Weight = min(pods[n.Name], mostWeight)
		}
		if s.Weight > 0 || !local {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, CompareServers)
	return slices.CompactFunc(out, sameServer)
}

// podsOf returns the pods of a port whose network interface is known.
func podsOf(in Input, facts *Facts, p nodeports.ServicePort) []Server {
	return podsOfFamily(in, facts, p, familyOf(in))
}

func podsOfFamily(in Input, facts *Facts, p nodeports.ServicePort, family corev1.IPFamily) []Server {
	return podsWhere(in, facts, p, family, func(nodeports.Endpoint) bool { return true })
}

func podsWhere(in Input, facts *Facts, p nodeports.ServicePort, family corev1.IPFamily, fits func(nodeports.Endpoint) bool) []Server {
	weight := weightOf(in)
	var out []Server
	for _, e := range in.Backends.Endpoints.For(family, p.Name) {
		id, ok := facts.Interfaces[InterfaceKey(e.Pod, e.Addr)]
		if !ok || !fits(e) || e.Terminating && !gracefulKey.Get(in.Values) {
			continue
		}
		s := Server{ID: id, Address: e.Addr.String(), Type: ServerENI, Port: e.Port, Weight: weight}
		if e.Terminating {
			s.Weight = 0
		}
		out = append(out, s)
	}
	slices.SortFunc(out, CompareServers)
	return slices.CompactFunc(out, sameServer)
}

// reportUnknown reports the pods of a port that have no network interface.
func (b *builder) reportUnknown(p nodeports.ServicePort) {
	for _, e := range b.in.Backends.Endpoints.For(familyOf(b.in), p.Name) {
		if _, ok := b.facts.Interfaces[InterfaceKey(e.Pod, e.Addr)]; ok || !usesPods(b.in) && !isOnVirtual(b.in, e) {
			continue
		}
		b.problems.Warn("pod "+cmp.Or(e.Name, "without a name"), e.Addr.String(), "on the node "+cmp.Or(e.Node, "without a name")+" has no network interface in the VPC, so it gets no traffic", "the address of a network interface that is in use")
		b.problems[len(b.problems)-1].Taken = true // the interface may appear later
	}
}

// mostWeight is the greatest weight of a server. Source: API of SLB, AddVServerGroupBackendServers.
const mostWeight = 100

// weightOf returns the weight of nodes and pods.
func weightOf(in Input) int {
	if value, _, given := weightKey.Lookup(in.Values); given {
		return value
	}
	return mostWeight
}

// keepWeights returns servers with the weights that the found ones have, where the Service says
// that weights are not its own.
func (b *builder) keepWeights(servers, found []Server) []Server {
	if !ignoreWeightKey.Get(b.in.Values) {
		return servers
	}
	for i := range servers {
		if at := slices.IndexFunc(found, func(s Server) bool { return sameServer(s, servers[i]) }); at >= 0 {
			servers[i].Weight = found[at].Weight
		}
	}
	return servers
}

// sameServer reports whether two servers are one, whatever their weights.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/vgroups.go.
func sameServer(a, b Server) bool {
	a.Weight, b.Weight = 0, 0
	return a == b
}

// CompareServers orders servers by id, address, port and weight.
func CompareServers(a, b Server) int {
	return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Weight, b.Weight))
}

// SplitServers compares the servers of a group with the desired ones, and returns those to add,
// to remove and to give another weight.
func SplitServers(want, have []Server) (add, remove, weigh []Server) {
	for _, w := range want {
		at := slices.IndexFunc(have, func(s Server) bool { return sameServer(s, w) })
		switch {
		case at < 0:
			add = append(add, w)
		case have[at].Weight != w.Weight:
			weigh = append(weigh, w)
		}
	}
	for _, h := range have {
		if !slices.ContainsFunc(want, func(s Server) bool { return sameServer(s, h) }) {
			remove = append(remove, h)
		}
	}
	return add, remove, weigh
}

// SplitNetServers compares the servers of a group of a network load balancer with the desired ones, and returns
// those to add, to remove, and to give another port or weight. The port does not distinguish servers.
func SplitNetServers(want, have []Server) (add, remove, set []Server) {
	same := func(a, b Server) bool { return a.ID == b.ID && a.Address == b.Address && a.Type == b.Type }
	for _, w := range want {
		at := slices.IndexFunc(have, func(s Server) bool { return same(s, w) })
		switch {
		case at < 0:
			add = append(add, w)
		case have[at] != w:
			set = append(set, w)
		}
	}
	for _, h := range have {
		if !slices.ContainsFunc(want, func(s Server) bool { return same(s, h) }) {
			remove = append(remove, h)
		}
	}
	return add, remove, set
}
