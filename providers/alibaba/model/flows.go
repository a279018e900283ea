package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

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
		for _, r := range s.Of(KindNetListener) {
			lb, ok := s.Get(r.In)
			balancer, is := lb.Spec.(NetBalancer)
			if listener, _ := r.Spec.(NetListener); ok && is && listener.Running {
				out = append(out, netFlows(s, r, lb, balancer, listener)...)
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
	addBackends(&f, s, KindGroup, listener.Group)
	return f
}

// addBackends adds the servers of the group that a listener refers to.
func addBackends(f *traffic.Flow, s *stack.Stack, kind stack.Kind, ref stack.Ref) {
	for _, g := range s.Of(kind) {
		if ref.To != g.Key && (ref.ID == "" || ref.ID != g.ID) {
			continue
		}
		f.Through = append(f.Through, g.Key)
		servers, _ := ServersIn(g.Spec)
		for _, m := range servers {
			if m.Weight > 0 {
				f.To = append(f.To, traffic.Backend{Name: cmp.Or(m.Address, m.ID), Port: uint16(m.Port)})
			}
		}
	}
	slices.SortFunc(f.To, traffic.Backend.Compare)
}

// netFlows returns the flow of a listener of a network load balancer, one for each family. That of a range
// stands for all of its ports.
func netFlows(s *stack.Stack, r, lb stack.Resource, balancer NetBalancer, listener NetListener) []traffic.Flow {
	f := traffic.Flow{
		Owner: s.Owner, Address: cmp.Or(balancer.Host, lb.Key.String()), Family: traffic.IPv4, Port: uint16(listener.Port), Protocol: "TCP", Through: []stack.Key{r.In, r.Key},
	}
	if netTransport(listener.Protocol) == udp {
		f.Protocol = "UDP"
	}
	f.From = traffic.Everyone(traffic.IPv4)
	if balancer.AddressType == netIntranet {
		f.From = traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	}
	f.From = admittedBySecurity(s, balancer, f.From, f.Family)
	if len(balancer.Security) > 0 {
		f.Through = append(f.Through, securityGroupKey())
	}
	addBackends(&f, s, KindServerGroup, listener.Group)
	out := []traffic.Flow{f}
	if strings.EqualFold(balancer.IPVersion, netDualStack) {
		six := f
		six.Family, six.From = traffic.IPv6, traffic.Everyone(traffic.IPv6)
		if balancer.IPv6Type != netInternet {
			six.From = traffic.Ranges("fc00::/7")
		}
		six.From = admittedBySecurity(s, balancer, six.From, six.Family)
		out = append(out, six)
	}
	return out
}

// admittedBySecurity returns the clients that the security group of the Service admits, if the load balancer
// has joined it. The rules of others are not known.
func admittedBySecurity(s *stack.Stack, balancer NetBalancer, all []netip.Prefix, family traffic.Family) []netip.Prefix {
	group, ok := s.Get(securityGroupKey())
	spec, is := group.Spec.(SecurityGroup)
	joined := slices.ContainsFunc(balancer.Security, func(r stack.Ref) bool {
		return r.To == securityGroupKey() || r.ID != "" && r.ID == group.ID
	})
	if !ok || !is || !joined {
		return all
	}
	return traffic.Intersect(all, traffic.OfFamily(traffic.Ranges(spec.Ranges...), family))
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
	return int32(n)
}

// admittedClients returns the clients that the access control of a listener admits. An admitting list
// without entries admits all.
func admittedClients(s *stack.Stack, l Listener, all []netip.Prefix, family traffic.Family) []netip.Prefix {
	if l.Settings[paramAccess] != on {
		return all
	}
	var listed []netip.Prefix
	for _, id := range SplitIDs(l.Settings[paramLists]) {
		list, _ := stack.SpecOf[List](s, ListKey(id))
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
