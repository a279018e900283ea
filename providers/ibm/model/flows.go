package model

import (
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
				out = append(out, listenerFlow(s, r, lb, balancer))
			}
		}
	}
	return traffic.Merge(out)
}

func listenerFlow(s *stack.Stack, r, lb stack.Resource, balancer Balancer) traffic.Flow {
	listener, _ := r.Spec.(Listener)
	f := traffic.Flow{
		Owner: s.Owner, Address: balancer.Hostname, Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: "TCP",
		From: traffic.Everyone(traffic.IPv4), Through: []stack.Key{r.In, r.Key},
	}
	if f.Address == "" {
		f.Address = lb.Key.String()
	}
	if !balancer.Public {
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	for _, p := range s.Of(KindPool) {
		if listener.Pool.To != p.Key && (listener.Pool.ID == "" || listener.Pool.ID != p.ID) {
			continue
		}
		f.Through = append(f.Through, p.Key)
		pool, _ := p.Spec.(Pool)
		for _, m := range pool.Members {
			f.To = append(f.To, traffic.Backend{Name: m.Address, Port: uint16(m.Port)})
		}
	}
	return f
}
