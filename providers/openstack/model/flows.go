package model

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows computes what the stacks of all owners let through. A listener is reached at the
// address of its load balancer in the network, and at the floating IP that is bound to it.
// Nodes accept the traffic unless the cluster manages security groups: then a node port is
// open only by a rule of a group that ports of nodes have.
func Flows(world []*stack.Stack) []traffic.Flow {
	managed := slices.ContainsFunc(world, func(s *stack.Stack) bool { return len(s.Of(KindGroup)) > 0 })
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindListener) {
			lb, ok := s.Get(r.In)
			balancer, isBalancer := lb.Spec.(Balancer)
			if !ok || !isBalancer {
				continue
			}
			f := listenerFlow(s, r, balancer)
			if managed {
				f = behindGroup(s, f, balancer)
			}
			out = append(out, flowsAt(s, f, lb, balancer)...)
		}
	}
	return traffic.Merge(out)
}

// listenerFlow returns the flow of a listener without an address, as if nodes accepted
// everything. Octavia admits everyone where a listener has no ranges.
func listenerFlow(s *stack.Stack, r stack.Resource, balancer Balancer) traffic.Flow {
	listener, _ := r.Spec.(Listener)
	f := traffic.Flow{Owner: s.Owner, Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: transportOf(listener.Protocol), Through: []stack.Key{r.In, r.Key}}
	f.From = traffic.Ranges(listener.Ranges...)
	if a, err := netip.ParseAddr(balancer.Address); err == nil {
		f.Family = traffic.FamilyOf(a)
	} else if len(f.From) > 0 {
		f.Family = traffic.FamilyOf(f.From[0].Addr())
	}
	if len(listener.Ranges) == 0 {
		f.From = traffic.Everyone(f.Family)
	}
	for _, p := range s.Of(KindPool) {
		if listener.Pool.To != p.Key && (listener.Pool.ID == "" || listener.Pool.ID != p.ID) {
			continue
		}
		f.Through = append(f.Through, p.Key)
		for m, spec := range stack.Each[Members](s, KindMembers) {
			if m.In == p.Key {
				f.Through = append(f.Through, m.Key)
				for _, member := range spec.Members {
					f.To = append(f.To, traffic.Backend{Name: member.Address, Port: uint16(member.Port)})
				}
			}
		}
	}
	return f
}

// behindGroup restricts a flow to what the rules of the owner's security group admit at its
// node ports. Behind a driver that keeps the addresses of clients, rules restrict clients.
func behindGroup(s *stack.Stack, f traffic.Flow, balancer Balancer) traffic.Flow {
	var rules []GroupRule
	assigned := false
	for _, r := range s.Resources {
		switch spec := r.Spec.(type) {
		case GroupRules:
			rules = append(rules, spec.Rules...)
		case GroupPorts:
			assigned = assigned || len(spec.Ports) > 0
		}
	}
	f.Through = append(f.Through, groupKey(), rulesKey(), groupPortsKey())
	var clients []netip.Prefix
	f.To = slices.DeleteFunc(slices.Clone(f.To), func(b traffic.Backend) bool {
		admitted := door{strings.ToLower(f.Protocol), int32(b.Port)}.clients(rules, f.Family)
		clients = append(clients, admitted...)
		return !assigned || len(admitted) == 0
	})
	if !driverOf(balancer.Provider).Proxies {
		f.From = traffic.Intersect(f.From, traffic.Union(clients))
	}
	return f
}

// clients returns the ranges that rules admit at a port of the nodes.
func (d door) clients(rules []GroupRule, family traffic.Family) []netip.Prefix {
	var out []netip.Prefix
	for _, rule := range rules {
		if rule.Direction == "ingress" && rule.Protocol == d.protocol && rule.Family == string(family) && rule.Port <= d.port && d.port <= rule.Last {
			out = append(out, traffic.Ranges(rule.Remote)...)
		}
	}
	return out
}

// flowsAt returns a flow at each address of its load balancer.
func flowsAt(s *stack.Stack, f traffic.Flow, lb stack.Resource, balancer Balancer) []traffic.Flow {
	inside := f
	if inside.Address = balancer.Address; inside.Address == "" {
		inside.Address = lb.Key.String()
	}
	out := []traffic.Flow{inside}
	for _, r := range s.Resources {
		var to stack.Ref
		switch spec := r.Spec.(type) {
		case FloatingIP:
			to = spec.Balancer
		case Binding:
			to = spec.Balancer
		}
		if to.To != lb.Key && (to.ID == "" || to.ID != lb.ID) {
			continue
		}
		outside := f
		if outside.Address = floatingAddress(r); outside.Address == "" {
			outside.Address = r.Key.String()
		}
		outside.Through = append([]stack.Key{r.Key}, f.Through...)
		out = append(out, outside)
	}
	return out
}

// transportOf returns the protocol that clients use, of the protocol of a listener.
func transportOf(protocol string) string {
	if protocol == "UDP" || protocol == "SCTP" {
		return protocol
	}
	return "TCP"
}
