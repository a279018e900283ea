package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// refuseConflicts refuses what Google Cloud would refuse because of other forwarding rules on the
// addresses that the Service asks for. A changed rule is deleted before the new one is
// created, so a refusal that can be foreseen must come before both.
func (b *builder) refuseConflicts() {
	for _, r := range b.out.Of(RuleKind(b.scheme)) {
		rule, _ := r.Spec.(Rule)
		if rule.IP == "" || rule.Wish {
			continue
		}
		for _, other := range b.facts.Rules {
			if b.sameAddress(rule, other) && !b.checkConflict(r, rule, other) {
				break
			}
		}
	}
}

// sameAddress reports whether another Service's rule, or a user's, has the address of the rule.
// Internal IPs are those of one network.
func (b *builder) sameAddress(rule Rule, other OtherRule) bool {
	return other.Scheme == rule.Scheme && sameIPs(other.IP, rule.IP) && !b.ownAddress(other.Name) &&
		(rule.Scheme == SchemeExternal || other.Network == "" || other.Network == b.facts.Network)
}

// checkConflict reports the rule as refused where the other one excludes it, and whether it may
// stand beside that. A live rule that stays as it is has been accepted.
func (b *builder) checkConflict(r stack.Resource, rule Rule, other OtherRule) (fits bool) {
	created := b.made(r)
	if created && rule.Scheme == SchemeInternal && !b.isShareable(rule.IP) {
		key, legal := b.addressSource(), "a free address, or one that is reserved with the purpose "+purposeShared
		b.report(annotations.ProblemOf(key, rule.IP, "is the address of "+other.ownerText()+" and not reserved for more than one forwarding rule", legal, annotations.Error))
		return false
	}
	for _, meeting := range b.commonPorts(rule, other, created) {
		legal := "ports outside of " + other.Ports.portsText() + ", or another address in " + b.addressSource()
		b.report(annotations.ProblemOf("spec.ports", meeting, "is taken on "+rule.IP+" by "+other.ownerText()+", which has "+other.Ports.portsText()+"/"+other.Protocol, legal, annotations.Error))
		return false
	}
	return true
}

// commonPorts returns the ports of the rule that the other one has. A rule for all of IP may
// stand beside one for a protocol and then gets none of the other's packets, but the
// firewall would admit clients to its ports.
// Source: Cloud Load Balancing documentation, forwarding rule concepts, L3_DEFAULT.
func (b *builder) commonPorts(rule Rule, other OtherRule, created bool) []string {
	switch {
	case rule.Protocol == other.Protocol:
		if created && rule.Ports.hasCommon(other.Ports) {
			return []string{rule.Ports.portsText() + "/" + rule.Protocol}
		}
	case rule.Protocol == protocolL3:
		for _, p := range b.in.Backends.Ports {
			if string(p.Protocol) == other.Protocol && other.Ports.hasCommon(Ports{List: []string{decimal32(p.Port)}}) {
				return []string{decimal32(p.Port) + "/" + other.Protocol}
			}
		}
	}
	return nil
}

// isShareable reports whether several rules may have the internal IP.
// Source: Compute Engine API reference, addresses, purpose.
func (b *builder) isShareable(ip string) bool {
	_, ok := b.facts.reserved(func(r Reserved) bool { return r.IP == ip && r.Purpose == purposeShared })
	return ok
}

const purposeShared = "SHARED_LOADBALANCER_VIP"

// addressSource is the key that asks for the address.
func (b *builder) addressSource() string {
	if len(staticNames(b.in)) > 0 && b.in.Service.Spec.LoadBalancerIP == "" {
		return addressesKey.Name
	}
	return "spec.loadBalancerIP"
}

// ownerText names the Service that the rule serves, and the rule.
func (o OtherRule) ownerText() string {
	newer, older := servicesIn(o.Description)
	if service := cmp.Or(newer, older); service != "" {
		return "Service " + service + " (forwarding rule " + o.Name + ")"
	}
	return "forwarding rule " + o.Name
}

// portsText returns how messages write the ports.
func (p Ports) portsText() string {
	from, to, many := strings.Cut(p.Range, "-")
	switch {
	case p.All:
		return "all ports"
	case many && from == to:
		return from
	}
	return cmp.Or(strings.Join(p.List, ","), p.Range)
}

// hasCommon reports whether the two have a port in common.
func (p Ports) hasCommon(q Ports) bool {
	return slices.ContainsFunc(p.portSpans(), func(x span) bool {
		return slices.ContainsFunc(q.portSpans(), func(y span) bool { return x.from <= y.to && y.from <= x.to })
	})
}

// span is a range of ports, both ends included.
type span struct{ from, to int }

func (p Ports) portSpans() []span {
	texts := p.List
	if p.Range != "" {
		texts = append(slices.Clone(texts), p.Range)
	}
	if p.All || len(texts) == 0 {
		return []span{{0, 65535}}
	}
	var out []span
	for _, text := range texts {
		first, last, many := strings.Cut(text, "-")
		if !many {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err == nil && err2 == nil {
			out = append(out, span{from, to})
		}
	}
	return out
}
