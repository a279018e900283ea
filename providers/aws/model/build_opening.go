package model

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// markOpening marks the new rules of nodes that admit clients to a node port to which a listener
// sends that is to be deleted, and that no found rule admits. The rule is for another listener with
// that node port, and would admit its clients to the old one as well.
func (b *builder) markOpening() {
	if b.have == nil {
		return
	}
	closing := onlyIn(b.have, b.out, func(l stack.Resource) bool {
		_, stays := b.out.Get(l.In)
		return stays && l.Proof != stack.None
	})
	doors := doorsTo(closing, b.have, b.lb)
	for r, spec := range stack.Each[NodeRule](b.out, KindNodeRule) {
		if _, exists := b.found(r.Key); exists || !doors.widenedBy(spec, b.lb) {
			continue
		}
		spec.Opens = true
		r.Spec = spec
		b.out.Put(r)
	}
}

// markShutting marks the found rules of nodes that are to be deleted and admit clients to the
// node port of a new listener that no desired rule admits: these clients reached it by an old
// listener, and would reach it by the new one.
func markShutting(want, have *stack.Stack) *stack.Stack {
	lb := LoadBalancerName(have.Owner.UID)
	doors := doorsTo(onlyIn(want, have, func(stack.Resource) bool { return true }), want, lb)
	var marked []stack.Resource
	for r, spec := range stack.Each[NodeRule](have, KindNodeRule) {
		_, stays := want.Get(r.Key)
		if shuts := !stays && doors.widenedBy(spec, lb); shuts != spec.Shuts {
			spec.Shuts = shuts
			r.Spec = spec
			marked = append(marked, r)
		}
	}
	if len(marked) == 0 {
		return have
	}
	out := have.Clone()
	for _, r := range marked {
		out.Put(r)
	}
	return out
}

// onlyIn returns the target groups of the listeners that one stack has and another one does not.
func onlyIn(of, other *stack.Stack, selected func(stack.Resource) bool) []TargetGroup {
	var out []TargetGroup
	for _, r := range of.Of(KindListener) {
		if _, exists := other.Get(r.Key); exists || !selected(r) {
			continue
		}
		l, _ := r.Spec.(Listener)
		if group, is := stack.SpecOf[TargetGroup](of, l.TargetGroup.To); is {
			out = append(out, group)
		}
	}
	return out
}

// door is a port of the nodes, and the clients that rules admit there.
type door struct {
	protocol string
	port     int32
	clients  []netip.Prefix
}

type doors []door

// doorsTo returns the ports of target groups, with the clients that the rules of a stack admit.
func doorsTo(groups []TargetGroup, rules *stack.Stack, lb string) doors {
	var out doors
	for _, g := range groups {
		out = append(out, door{protocol: transportOf(g.Protocol), port: g.Port})
	}
	if len(out) == 0 {
		return nil
	}
	for _, rule := range stack.Each[NodeRule](rules, KindNodeRule) {
		for i := range out {
			if rule.admitsClientsAt(out[i], lb) {
				out[i].clients = append(out[i].clients, clientsOf(rule.CIDR)...)
			}
		}
	}
	for i := range out {
		out[i].clients = traffic.Union(out[i].clients)
	}
	return out
}

// widenedBy reports whether a rule admits further clients at one of the doors.
func (d doors) widenedBy(rule NodeRule, lb string) bool {
	return slices.ContainsFunc(d, func(at door) bool {
		return rule.admitsClientsAt(at, lb) && !traffic.Contains(at.clients, clientsOf(rule.CIDR))
	})
}

// admitsClientsAt reports whether a rule of a load balancer admits clients, and not only health
// checks.
func (r NodeRule) admitsClientsAt(d door, lb string) bool {
	return r.CIDR != "" && r.Description != HealthDescription(lb) && strings.EqualFold(r.Protocol, d.protocol) && r.FromPort <= d.port && d.port <= r.ToPort
}

// transportOf returns the protocol of rules for a target group.
func transportOf(protocol string) string {
	if protocol == "UDP" {
		return "udp"
	}
	return "tcp"
}

// opensClosing reports whether a rule would admit more clients to a port that closes.
func opensClosing(r stack.Resource) bool {
	rule, _ := r.Spec.(NodeRule)
	return rule.Opens
}

func opensNoClosing(r stack.Resource) bool { return !opensClosing(r) }

// shutsOpening reports whether a rule admits clients to a new port that are not to reach it.
func shutsOpening(r stack.Resource) bool {
	rule, _ := r.Spec.(NodeRule)
	return rule.Shuts
}

func shutsNoOpening(r stack.Resource) bool { return !shutsOpening(r) }
