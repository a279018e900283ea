package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows computes what the stacks of all owners let through: a running listener admits all clients
// of the Internet, or of the network if its load balancer is internal.
func Flows(world []*stack.Stack) []traffic.Flow {
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindListener) {
			lb, ok := s.Get(r.In)
			balancer, is := lb.Spec.(Balancer)
			if listener, _ := r.Spec.(Listener); ok && is && listener.Running {
				out = append(out, listenerFlow(s, r, lb, balancer, listener))
			}
		}
	}
	return traffic.Merge(out)
}

func listenerFlow(s *stack.Stack, r, lb stack.Resource, balancer Balancer, listener Listener) traffic.Flow {
	f := traffic.Flow{
		Owner: s.Owner, Address: balancer.Address, Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: "TCP",
		From: traffic.Everyone(traffic.IPv4), Through: []stack.Key{r.In, r.Key},
	}
	if transportOf(listener.Protocol) == udp {
		f.Protocol = "UDP"
	}
	if f.Address == "" {
		f.Address = lb.Key.String()
	}
	if balancer.AddressType == intranet {
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	for _, g := range s.Of(KindGroup) {
		if listener.Group.To != g.Key && (listener.Group.ID == "" || listener.Group.ID != g.ID) {
			continue
		}
		f.Through = append(f.Through, g.Key)
		group, _ := g.Spec.(VServerGroup)
		for _, m := range group.Servers {
			if m.Weight > 0 {
				f.To = append(f.To, traffic.Backend{Name: m.ID, Port: uint16(m.Port)})
			}
		}
	}
	slices.SortFunc(f.To, traffic.Backend.Compare)
	return f
}
