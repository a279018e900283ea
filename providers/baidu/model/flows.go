package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows computes what the stacks of all owners let through: a listener admits all clients of the
// Internet, or of the network if its load balancer is internal. Its policy sends to the members of a
// group, or it sends to the backends of a normal load balancer.
func Flows(world []*stack.Stack) []traffic.Flow {
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindListener) {
			lb, ok := s.Get(r.In)
			balancer, is := lb.Spec.(Balancer)
			listener, isListener := r.Spec.(Listener)
			if ok && is && isListener && (r.Proof != stack.None || lb.Ownership != stack.External || r.ID == "") {
				out = append(out, listenerFlow(s, r, lb, balancer, listener))
			}
		}
	}
	return traffic.Merge(out)
}

func listenerFlow(s *stack.Stack, r, lb stack.Resource, balancer Balancer, listener Listener) traffic.Flow {
	f := traffic.Flow{
		Owner: s.Owner, Address: publicAddress(s, balancer), Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: listener.Protocol, Through: []stack.Key{r.In, r.Key},
	}
	if f.Address == "" {
		f.Address = lb.Key.String()
	}
	f.From = traffic.Everyone(f.Family)
	if balancer.EIP.IsZero() {
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	var through []stack.Key
	if balancer.Type == BLB {
		f.To, through = backendsOf(s, r.In, listener.BackendPort)
	} else {
		f.To, through = groupOf(s, r.Key)
	}
	f.Through = append(f.Through, through...)
	slices.SortFunc(f.To, traffic.Backend.Compare)
	return f
}

// backendsOf returns the backends of a normal load balancer at a port.
func backendsOf(s *stack.Stack, lb stack.Key, port int32) (out []traffic.Backend, through []stack.Key) {
	for r, spec := range stack.Each[Backends](s, KindBackends) {
		if r.In == lb {
			out, through = append(out, backendsAt(spec.Members, port)...), append(through, r.Key)
		}
	}
	return out, through
}

// groupOf returns the members of the group that the policy of a listener sends to. The group passes on
// what has a port, or a protocol, of the group.
func groupOf(s *stack.Stack, listener stack.Key) (out []traffic.Backend, through []stack.Key) {
	for _, p := range s.Of(KindPolicy) {
		policy, ok := p.Spec.(Policy)
		group, known := s.Get(policy.Group.To)
		spec, is := group.Spec.(Group)
		if !ok || p.In != listener || !known || !is {
			continue
		}
		for t, target := range stack.Each[Target](s, KindTarget) {
			if t.In == group.Key && target.Protocol == policy.Protocol && target.Port == policy.Backend {
				out = append(out, backendsAt(spec.Members, policy.Backend)...)
				through = append(through, p.Key, group.Key, t.Key)
			}
		}
	}
	return out, through
}

// backendsAt returns the members with a weight as backends at a port; those with a port of their own have it.
func backendsAt(members []Member, port int32) []traffic.Backend {
	var out []traffic.Backend
	for _, m := range members {
		at := port
		if m.Port != 0 {
			at = m.Port
		}
		if b := (traffic.Backend{Name: m.Target(), Port: uint16(at)}); m.Weight > 0 && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}
