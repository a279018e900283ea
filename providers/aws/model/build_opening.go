package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// markOpening marks the new rules of nodes that admit traffic at a node port to which a listener
// sends that is to be deleted. The rule is for another listener with that node port, and would
// admit its clients to the old one as well.
func (b *builder) markOpening() {
	closing := b.closingPorts()
	if len(closing) == 0 {
		return
	}
	for _, r := range b.out.Of(KindNodeRule) {
		spec, _ := r.Spec.(NodeRule)
		admits := func(g TargetGroup) bool {
			return strings.EqualFold(spec.Protocol, transportOf(g.Protocol)) && spec.FromPort <= g.Port && g.Port <= spec.ToPort
		}
		ofClients := spec.CIDR != "" && spec.Description != HealthDescription(b.lb)
		if _, exists := b.found(r.Key); exists || !ofClients || !slices.ContainsFunc(closing, admits) {
			continue
		}
		spec.Opens = true
		r.Spec = spec
		b.out.Put(r)
	}
}

// closingPorts returns the found target groups of listeners that are to be deleted while their
// load balancer stays.
func (b *builder) closingPorts() []TargetGroup {
	if b.have == nil {
		return nil
	}
	var out []TargetGroup
	for _, r := range b.have.Of(KindListener) {
		_, wanted := b.out.Get(r.Key)
		_, stays := b.out.Get(r.In)
		if wanted || !stays || r.Proof == stack.None {
			continue
		}
		l, _ := r.Spec.(Listener)
		found, _ := b.have.Get(l.TargetGroup.To)
		if group, is := found.Spec.(TargetGroup); is {
			out = append(out, group)
		}
	}
	return out
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
