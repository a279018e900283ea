package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows computes what the stacks of all owners let through: a listener admits all clients of
// the Internet, or of the network if its load balancer is private.
func Flows(world []*stack.Stack) []traffic.Flow {
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindListener) {
			lb, ok := s.Get(r.In)
			balancer, is := lb.Spec.(Balancer)
			if ok && is {
				out = append(out, listenerFlows(s, r, lb, balancer)...)
			}
		}
	}
	return traffic.Merge(out)
}

// listenerFlows returns the flow of a listener, or those of the first and the last port of a
// range: what is between them follows the same rules. A port of a range reaches members at
// the same port.
func listenerFlows(s *stack.Stack, r, lb stack.Resource, balancer Balancer) []traffic.Flow {
	listener, _ := r.Spec.(Listener)
	f := traffic.Flow{
		Owner: s.Owner, Address: balancer.Hostname, Family: traffic.IPv4, Protocol: strings.ToUpper(listener.Protocol),
		From: traffic.Everyone(traffic.IPv4), Through: []stack.Key{r.In, r.Key},
	}
	if f.Address == "" {
		f.Address = lb.Key.String()
	}
	if !balancer.Public {
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	var members []Member
	for _, p := range s.Of(KindPool) {
		if listener.Pool.To != p.Key && (listener.Pool.ID == "" || listener.Pool.ID != p.ID) {
			continue
		}
		f.Through = append(f.Through, p.Key)
		pool, _ := p.Spec.(Pool)
		members = append(members, pool.Members...)
	}
	isRange := listener.Last > listener.Port
	var out []traffic.Flow
	for _, port := range slices.Compact([]int32{listener.Port, max(listener.Port, listener.Last)}) {
		f.Port, f.To = uint16(port), nil
		for _, m := range members {
			b := traffic.Backend{Name: m.target(), Port: uint16(m.Port)}
			if isRange {
				b.Port = uint16(port)
			}
			f.To = append(f.To, b)
		}
		out = append(out, f)
	}
	return out
}
