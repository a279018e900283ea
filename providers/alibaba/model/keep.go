package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// KeepServing returns the existing stack with today's nodes and pods as servers.
func KeepServing(in Input, facts *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.External {
			continue
		}
		if servers, ok := ServersIn(r.Spec); ok && len(servers) > 0 {
			port, _, _ := strings.Cut(r.Key.Name, ".") // the protocol follows in those of network load balancers
			switch {
			case servers[0].Type == ServerIP:
				servers = followAddresses(in, facts, port, servers)
			case hasVirtual(in, servers):
				nodes := slices.DeleteFunc(slices.Clone(servers), isPod)
				if len(nodes) > 0 {
					nodes = followNodes(in, port, nodes)
				}
				servers = slices.Concat(nodes, followPods(in, facts, port, slices.DeleteFunc(slices.Clone(servers), isNode), true))
				slices.SortFunc(servers, CompareServers)
			case slices.ContainsFunc(servers, isPod):
				servers = followPods(in, facts, port, servers, false)
			default:
				servers = followNodes(in, port, servers)
			}
			r.Spec = withServers(r.Spec, servers)
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

func isNode(s Server) bool { return !isPod(s) }

// hasVirtual reports whether the pods among servers are those of virtual nodes: nodes are servers as well, or none of
// the pods is on another node.
func hasVirtual(in Input, servers []Server) bool {
	if in.Backends.Virtual.Len() == 0 || !slices.ContainsFunc(servers, isPod) {
		return false
	}
	if slices.ContainsFunc(servers, isInstance) {
		return true
	}
	found := false
	for _, of := range in.Backends.Endpoints.ByPort {
		for _, e := range of.List {
			if slices.ContainsFunc(servers, func(s Server) bool { return s.Address == e.Addr.String() }) {
				if found = isOnVirtual(in, e); !found {
					return false
				}
			}
		}
	}
	return found
}

// followNodes returns today's nodes in place of the found instances, which keep their weights
// unless weights count pods. Servers of other types stay.
func followNodes(in Input, port string, found []Server) []Server {
	p := nodeports.ServicePort{NodePort: found[0].Port}
	local := nodeports.LocalOnly(in.Service)
	known := false
	for _, one := range in.Backends.Ports {
		if strconv.Itoa(int(one.NodePort)) == port {
			p, known = one, true
		}
	}
	if local && !known {
		return found
	}
	var others []Server
	nodes := nodesOf(in, p)
	for _, s := range found {
		if s.Type != ServerECS {
			others = append(others, s)
		}
		at := slices.IndexFunc(nodes, func(n Server) bool { return sameServer(n, s) })
		if at >= 0 && !local {
			nodes[at].Weight = s.Weight
		}
	}
	out := providers.Follow(found, append(nodes, others...), func(s Server) bool { return s.Type == ServerECS })
	slices.SortFunc(out, CompareServers)
	return out
}

// followAddresses returns the addresses of today's nodes or pods in place of the found ones, which keep their
// weights.
func followAddresses(in Input, facts *Facts, port string, found []Server) []Server {
	p := nodeports.ServicePort{NodePort: found[0].Port}
	known := false
	for _, one := range in.Backends.Ports {
		if backendPort(in, one) == port {
			p, known = one, true
		}
	}
	if !known && (usesPods(in) || nodeports.LocalOnly(in.Service)) || facts == nil && usesPods(in) {
		return found
	}
	out := addressesOf(in, serversOf(in, facts, p))
	for i := range out {
		if at := slices.IndexFunc(found, func(s Server) bool { return sameServer(s, out[i]) }); at >= 0 {
			out[i].Weight = found[at].Weight
		}
	}
	slices.SortFunc(out, CompareServers)
	return out
}

// followPods returns today's pods in place of the found ones, which keep their weights, at the port
// of the group. Where pods or interfaces are not known, the found ones stay. Beside nodes only those on virtual nodes count.
func followPods(in Input, facts *Facts, port string, found []Server, virtual bool) []Server {
	if facts == nil || len(found) == 0 {
		return found
	}
	for i, p := range in.Backends.Ports {
		named := (usesPods(in) || virtual) && backendPort(in, p) == port
		if last := i == len(in.Backends.Ports)-1; !named && !last {
			continue
		}
		pods, known := podsOf(in, facts, p), in.Backends.Endpoints.For(familyOf(in), p.Name)
		if virtual {
			pods = virtualPods(in, facts, p)
			known = slices.DeleteFunc(slices.Clone(known), func(e nodeports.Endpoint) bool { return !isOnVirtual(in, e) })
		}
		for i := range pods {
			if !named { // the port is not the Service's any more, and all ports have the same pods
				pods[i].Port = found[0].Port
			}
			if at := slices.IndexFunc(found, func(s Server) bool { return sameServer(s, pods[i]) }); at >= 0 {
				pods[i].Weight = found[at].Weight
			}
		}
		if len(pods) > 0 || len(known) == 0 && named {
			return pods
		}
		return found
	}
	return found
}

// MatchFound returns the found stack as it is: keys follow from ports.
func MatchFound(_, have *stack.Stack) *stack.Stack { return have }
