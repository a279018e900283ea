package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows computes what the stacks of all owners let through: a listener admits all clients of the
// Internet, or of the network if its load balancer is internal. One of HTTP or HTTPS sends to the
// targets of all of its rules.
func Flows(world []*stack.Stack) []traffic.Flow {
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindListener) {
			lb, ok := s.Get(r.In)
			balancer, is := lb.Spec.(Balancer)
			if listener, isListener := r.Spec.(Listener); ok && is && isListener {
				out = append(out, listenerFlow(s, r, lb, balancer, listener))
			}
		}
	}
	return traffic.Merge(out)
}

func listenerFlow(s *stack.Stack, r, lb stack.Resource, balancer Balancer, listener Listener) traffic.Flow {
	f := traffic.Flow{
		Owner: s.Owner, Address: lb.Key.String(), Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: transportOf(listener.Protocol), Through: []stack.Key{r.In, r.Key},
	}
	if balancer.IPVersion == fullChain {
		f.Family = traffic.IPv6
	}
	for _, address := range append([]string{balancer.Domain}, balancer.Addresses...) {
		if address != "" {
			f.Address = address
		}
	}
	f.From = traffic.Everyone(f.Family)
	switch {
	case balancer.Type != Internal:
	case f.Family == traffic.IPv6:
		f.From = traffic.Ranges("fc00::/7")
	default:
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	for _, rule := range s.Of(KindRule) {
		if rule.In == r.Key {
			f.Through = append(f.Through, rule.Key)
		}
	}
	for _, m := range membersIn(s, r.Key) {
		if b := (traffic.Backend{Name: m.Target(), Port: uint16(m.Port)}); m.Weight > 0 && !slices.Contains(f.To, b) {
			f.To = append(f.To, b)
		}
	}
	slices.SortFunc(f.To, traffic.Backend.Compare)
	return f
}
