package model

import (
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows computes what the stacks of all owners let through. A listener accepts everyone, or
// the private network if its load balancer is internal. Machines accept a protocol from load
// balancers only while the cluster has the opening for it.
func Flows(world []*stack.Stack) []traffic.Flow {
	var out []traffic.Flow
	open := map[string]stack.Key{}
	for _, s := range world {
		for _, r := range s.Of(KindOpening) {
			protocol := strings.ToUpper(r.Key.Name)
			open[protocol] = r.Key
			out = append(out, traffic.Flow{
				Address: r.Key.String(), Family: traffic.IPv4, Protocol: protocol,
				From: traffic.Everyone(traffic.IPv4), Through: []stack.Key{r.Key},
			})
		}
	}
	for _, s := range world {
		for _, r := range s.Of(KindListener) {
			if f, ok := flowOf(s, r); ok {
				opening, admitted := open[f.Protocol]
				if f.Through = append(f.Through, opening); !admitted {
					f.To = nil
				}
				out = append(out, f)
			}
		}
	}
	return traffic.Merge(out)
}

// flowOf returns the flow of a listener as if machines accepted everything; false if it is in
// no load balancer.
func flowOf(s *stack.Stack, r stack.Resource) (traffic.Flow, bool) {
	lb, ok := s.Get(r.In)
	balancer, _ := lb.Spec.(Balancer)
	listener, _ := r.Spec.(Listener)
	if !ok {
		return traffic.Flow{}, false
	}
	f := traffic.Flow{
		Owner: s.Owner, Address: lb.Key.String(), Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: listener.Protocol,
		From: traffic.Everyone(traffic.IPv4), Through: []stack.Key{lb.Key, r.Key, MachinesKey()},
	}
	if lb.ID != "" {
		f.Address = HostOf(lb.ID)
	}
	if balancer.Internal {
		f.From = traffic.Ranges("10.0.0.0/8")
	}
	if m, ok := stack.SpecOf[Machines](s, MachinesKey()); ok {
		for _, name := range m.Names {
			f.To = append(f.To, traffic.Backend{Name: name, Port: uint16(listener.NodePort)})
		}
	}
	return f, true
}
