package model

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// KeepServing returns the existing stack with today's nodes as servers.
func KeepServing(in Input, _ *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None {
			continue
		}
		if spec, ok := r.Spec.(VServerGroup); ok && len(spec.Servers) > 0 {
			spec.Servers = followNodes(in, r.Key.Name, spec.Servers)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
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
	nodes := serversOf(in, p)
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

// MatchFound returns the found stack as it is: keys follow from ports.
func MatchFound(_, have *stack.Stack) *stack.Stack { return have }
