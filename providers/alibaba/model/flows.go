package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

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
	if balancer.IPVersion == ipv6 {
		f.Family, f.From = traffic.IPv6, traffic.Everyone(traffic.IPv6)
	} else if balancer.AddressType == intranet {
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	f.From = admittedClients(s, listener, f.From, f.Family)
	if !listener.Forward.IsZero() {
		f.To = []traffic.Backend{{Name: RedirectBackend, Port: uint16(redirectPort(s, listener.Forward))}}
		return f
	}
	for _, g := range s.Of(KindGroup) {
		if listener.Group.To != g.Key && (listener.Group.ID == "" || listener.Group.ID != g.ID) {
			continue
		}
		f.Through = append(f.Through, g.Key)
		group, _ := g.Spec.(VServerGroup)
		for _, m := range group.Servers {
			if m.Weight > 0 {
				f.To = append(f.To, traffic.Backend{Name: cmp.Or(m.Address, m.ID), Port: uint16(m.Port)})
			}
		}
	}
	slices.SortFunc(f.To, traffic.Backend.Compare)
	return f
}

// RedirectBackend stands for the answer of a listener that redirects. Its port is the one that
// clients are sent to.
const RedirectBackend = "redirect"

// redirectPort returns the port of the listener that clients are redirected to.
func redirectPort(s *stack.Stack, to stack.Ref) int32 {
	if r, ok := s.Get(to.To); ok {
		l, _ := r.Spec.(Listener)
		return l.Port
	}
	n, _ := strconv.ParseUint(to.ID, 10, 16)
	return int32(n) //nolint:gosec // 16 bits
}

// admittedClients returns the clients that the access control of a listener admits. An admitting list
// without entries admits all.
func admittedClients(s *stack.Stack, l Listener, all []netip.Prefix, family traffic.Family) []netip.Prefix {
	if l.Settings[paramAccess] != on {
		return all
	}
	var listed []netip.Prefix
	for _, id := range SplitIDs(l.Settings[paramLists]) {
		r, _ := s.Get(ListKey(id))
		list, _ := r.Spec.(List)
		for _, entry := range list.Entries {
			if p, err := netip.ParsePrefix(entry); err == nil {
				listed = append(listed, p.Masked())
			}
		}
	}
	listed = traffic.OfFamily(listed, family)
	switch {
	case len(listed) == 0:
		return all
	case l.Settings[paramListType] == denying:
		return traffic.Subtract(all, listed)
	}
	return traffic.Intersect(all, listed)
}
