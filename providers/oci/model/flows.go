package model

import (
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// computeFlows computes what the stacks of all owners let through. A packet passes if one
// rule of any security list of the subnet, or of any group of the interface, admits it: that
// holds for clients at the load balancer, for the way out of it, and for the way into the
// nodes. Where no rules are managed for a load balancer, the operator's admit everything.
// A load balancer sends nothing to backends whose health check is not admitted.
// Source: Networking documentation, "Comparison of Security Lists and Network Security
// Groups"; Load Balancer documentation, health check status CRITICAL.
func computeFlows(world []*stack.Stack) []traffic.Flow {
	v := newFlowView(world)
	out := v.doors
	for _, s := range world {
		for _, p := range Products() {
			for _, r := range s.Of(p.Listener) {
				out = append(out, v.listenerFlows(s, r)...)
			}
		}
	}
	return traffic.Merge(out)
}

// flowView is the managed rules of all owners.
type flowView struct {
	admits map[pass][]netip.Prefix // peers
	doors  []traffic.Flow
}

// pass is where a rule applies: a direction and a port of a security list.
type pass struct {
	list, direction string
	port            int32
}

func newFlowView(world []*stack.Stack) *flowView {
	v := &flowView{admits: map[pass][]netip.Prefix{}}
	for _, s := range world {
		for _, r := range s.Resources {
			switch spec := r.Spec.(type) {
			case Entry:
				at := pass{spec.List, spec.Direction, spec.Port}
				v.admits[at] = append(v.admits[at], traffic.Ranges(spec.Peer)...)
				if spec.Direction == Ingress {
					v.addDoor(stack.Owner{}, r.Key, spec.List, spec.Peer, spec.Port)
				}
			case GroupRules:
				for _, rule := range spec.Rules {
					if rule.Direction == Ingress && rule.Of.IsZero() {
						v.addDoor(s.Owner, r.Key, r.Key.String(), rule.Peer, rule.Port)
					}
				}
			}
		}
	}
	return v
}

// addDoor adds what a rule admits wherever its list or group applies.
func (v *flowView) addDoor(o stack.Owner, key stack.Key, at, peer string, port int32) {
	for _, from := range traffic.Ranges(peer) {
		v.doors = append(v.doors, traffic.Flow{
			Owner: o, Address: at, Family: traffic.FamilyOf(from.Addr()), Port: uint16(port), Protocol: "TCP", From: []netip.Prefix{from}, Through: []stack.Key{key},
		})
	}
}

// listenerFlows returns a flow for each address and protocol of a listener.
func (v *flowView) listenerFlows(s *stack.Stack, r stack.Resource) []traffic.Flow {
	l, _ := r.Spec.(Listener)
	lb, ok := s.Get(r.In)
	balancer, is := lb.Spec.(Balancer)
	if !ok || !is {
		return nil
	}
	way := &way{flowView: v, stack: s, balancer: balancer}
	setKey, set := way.setOf(l.Set)
	var out []traffic.Flow
	for _, at := range addressesIn(lb, balancer) {
		if l.Version != "" && (l.Version == V6) != (at.family == traffic.IPv6) {
			continue
		}
		f := traffic.Flow{Owner: s.Owner, Address: at.text, Family: at.family, Port: uint16(l.Port), Through: []stack.Key{lb.Key, r.Key, setKey}}
		f.From = way.clients(at.family, l.Port)
		f.To, f.From = way.backends(set, f.From)
		for _, protocol := range transportsOf(l.Protocol) {
			f.Protocol = protocol
			out = append(out, f)
		}
	}
	return out
}

// spot is an address of a load balancer.
type spot struct {
	text   string
	family traffic.Family
}

// addressesIn returns the addresses of a load balancer, or stand-ins until it has some.
func addressesIn(lb stack.Resource, spec Balancer) []spot {
	var out []spot
	for _, a := range spec.Addresses {
		if ip, err := netip.ParseAddr(a.IP); err == nil {
			out = append(out, spot{ip.String(), traffic.FamilyOf(ip)})
		}
	}
	if len(out) > 0 {
		return out
	}
	if lb.Key.Kind == KindBalancer || spec.Version != V6 { // the version V6 of lb means both
		out = append(out, spot{lb.Key.String(), traffic.IPv4})
	}
	if spec.Version == V6 || spec.Version == Both {
		out = append(out, spot{lb.Key.String(), traffic.IPv6})
	}
	return out
}

// transportsOf returns the protocols that clients of a listener use.
func transportsOf(protocol string) []string {
	switch protocol {
	case "UDP":
		return []string{"UDP"}
	case protocolTCPUDP, "ANY":
		return []string{"TCP", "UDP"}
	}
	return []string{"TCP"}
}

// way is the way of packets through one load balancer.
type way struct {
	*flowView
	stack    *stack.Stack
	balancer Balancer
}

// setOf returns the backend set that a listener names.
func (w *way) setOf(ref stack.Ref) (stack.Key, BackendSet) {
	for _, p := range Products() {
		for _, r := range w.stack.Of(p.Set) {
			if spec, is := r.Spec.(BackendSet); is && (ref.To == r.Key || ref.ID != "" && ref.ID == r.ID) {
				return r.Key, spec
			}
		}
	}
	return ref.To, BackendSet{}
}

// clients returns the ranges that reach a port of the load balancer.
func (w *way) clients(family traffic.Family, port int32) []netip.Prefix {
	var from []netip.Prefix
	managed := false
	for _, g := range w.balancer.Guards {
		if g.Front {
			managed = true
			from = append(from, w.admits[pass{g.ID, Ingress, port}]...)
		}
	}
	if !w.balancer.Own.IsZero() {
		managed = true
		for _, rule := range w.rulesIn(w.balancer.Own) {
			if rule.Direction == Ingress && rule.Port == port {
				from = append(from, traffic.Ranges(rule.Peer)...)
			}
		}
	}
	if !managed {
		return traffic.Everyone(family)
	}
	return traffic.OfFamily(from, family)
}

// rulesIn returns the Service's rules in a group.
func (w *way) rulesIn(group stack.Ref) []GroupRule {
	var out []GroupRule
	for _, r := range w.stack.Of(KindGroupRules) {
		if spec, is := r.Spec.(GroupRules); is && spec.Group == group {
			out = append(out, spec.Rules...)
		}
	}
	return out
}

// backends returns the backends of a set that traffic reaches, and the clients of which
// they accept it: where they see the addresses of clients, their rules restrict clients, and
// the port is closed without nodes that accept any.
func (w *way) backends(set BackendSet, from []netip.Prefix) ([]traffic.Backend, []netip.Prefix) {
	primary := slices.ContainsFunc(set.Backends, func(b Backend) bool { return b.serves() && !b.Backup })
	var out []traffic.Backend
	var accepted []netip.Prefix
	for _, b := range set.Backends {
		a := addressOf(b)
		if primary && b.Backup || !w.isHealthy(b, set.Health.Port) {
			continue
		}
		switch {
		case !set.Preserve && w.reaches(a, b.Port):
			accepted = from
		case set.Preserve && w.leaves(a, b.Port):
			some := traffic.Intersect(from, w.accepts(a, b.Port, from))
			if len(some) == 0 {
				continue
			}
			accepted = append(accepted, some...)
		default:
			continue
		}
		out = append(out, traffic.Backend{Name: b.Address, Port: uint16(b.Port)})
	}
	switch {
	case len(out) == 0 && set.Preserve:
		return nil, nil // packets end at the nodes
	case len(out) == 0:
		return nil, from
	}
	return out, traffic.Union(accepted)
}

// isHealthy reports whether a backend may have traffic: the operator lets it, and the health
// check reaches it.
func (w *way) isHealthy(b Backend, check int32) bool {
	a := addressOf(b)
	return b.serves() && a.IsValid() && w.reaches(a, check)
}

// serves reports whether the operator lets a backend have new connections.
func (b Backend) serves() bool { return !b.Drain && !b.Offline }

// reaches reports whether the load balancer itself reaches a port of a node.
func (w *way) reaches(node netip.Addr, port int32) bool {
	if !w.leaves(node, port) {
		return false
	}
	if w.nodeGroups() != nil {
		return w.isLetIn(port)
	}
	var own []netip.Prefix
	for _, g := range w.balancer.Guards {
		if g.Front {
			own = append(own, traffic.OfFamily(traffic.Ranges(g.CIDRs...), traffic.FamilyOf(node))...)
		}
	}
	return traffic.Contains(w.accepts(node, port, own), own)
}

// nodeGroups returns the groups of nodes that have rules for the load balancer.
func (w *way) nodeGroups() []string {
	var out []string
	for _, g := range w.balancer.Guards {
		if len(g.CIDRs) == 0 {
			out = append(out, g.ID)
		}
	}
	return out
}

// isLetIn reports whether a group of the nodes lets the Service's own group in.
func (w *way) isLetIn(port int32) bool {
	return slices.ContainsFunc(w.nodeGroups(), func(id string) bool {
		return slices.ContainsFunc(w.rulesIn(stack.RefID(id)), func(r GroupRule) bool {
			return r.Direction == Ingress && !r.Of.IsZero() && r.Of == w.balancer.Own && r.Port == port
		})
	})
}

// leaves reports whether packets to a port of a node leave the load balancer.
func (w *way) leaves(node netip.Addr, port int32) bool {
	if groups := w.nodeGroups(); groups != nil {
		return slices.ContainsFunc(w.rulesIn(w.balancer.Own), func(r GroupRule) bool {
			return r.Direction == Egress && r.Port == port && slices.Contains(groups, r.Peer)
		})
	}
	if w.homeOf(node) == nil {
		return true
	}
	for _, g := range w.balancer.Guards {
		peers := w.admits[pass{g.ID, Egress, port}]
		if g.Front && !slices.ContainsFunc(peers, func(p netip.Prefix) bool { return p.Contains(node) }) {
			return false
		}
	}
	return true
}

// homeOf returns the security lists of a node that have rules for the load balancer.
func (w *way) homeOf(node netip.Addr) []string {
	var out []string
	for _, g := range w.balancer.Guards {
		if !g.Front && slices.ContainsFunc(traffic.Ranges(g.CIDRs...), func(p netip.Prefix) bool { return p.Contains(node) }) {
			out = append(out, g.ID)
		}
	}
	return out
}

// accepts returns of which senders a node accepts packets at a port: all of them where the
// rules are the operator's.
func (w *way) accepts(node netip.Addr, port int32, all []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	if groups := w.nodeGroups(); groups != nil {
		for _, id := range groups {
			for _, r := range w.rulesIn(stack.RefID(id)) {
				if r.Direction == Ingress && r.Of.IsZero() && r.Port == port {
					out = append(out, traffic.Ranges(r.Peer)...)
				}
			}
		}
		return out
	}
	lists := w.homeOf(node)
	if lists == nil {
		return all
	}
	for _, id := range lists {
		out = append(out, w.admits[pass{id, Ingress, port}]...)
	}
	return out
}
