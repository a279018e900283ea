package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// protocols are those of the Service's ports, TCP first.
func (b *builder) protocols() []corev1.Protocol {
	var out []corev1.Protocol
	for _, p := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		if len(b.portsOf(p)) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// mixed reports whether ports of both protocols are wanted.
func (b *builder) mixed() bool { return len(b.protocols()) > 1 }

// protocol is the one of a Service that has one.
func (b *builder) protocol() string {
	if list := b.protocols(); len(list) > 0 {
		return string(list[0])
	}
	return protocolTCP
}

// portRange is from the lowest to the highest port, whatever is between them: the
// firewall lets in what the Service has.
func portRange(ports []int32) Ports {
	if len(ports) == 0 {
		return Ports{All: true}
	}
	return Ports{Range: decimal32(ports[0]) + "-" + decimal32(ports[len(ports)-1])}
}

// portList lists up to five ports; more are all ports of internal rules.
func portList(ports []int32) (Ports, bool) {
	if len(ports) == 0 || len(ports) > maxRulePorts {
		return Ports{All: true}, false
	}
	var out Ports
	for _, p := range ports {
		out.List = append(out.List, decimal32(p))
	}
	return out, true
}

// putRule wants a forwarding rule under one of the Service's names.
func (b *builder) putRule(key string, r Rule) {
	r.Name, r.Scheme = b.names.rule(key), b.scheme
	choice := b.ips[r.IPVersion]
	r.IP, r.Wish = choice.ip, choice.wish
	r.IPCollection = b.collection(r.IPVersion)
	if r.Description == "" {
		r.Description = b.ruleDescription(r)
	}
	b.out.Put(stack.Resource{Key: stack.Key{Kind: RuleKind(b.scheme), Name: key}, Slot: RuleSlot(r.Name), Spec: r})
}

// ruleDescription names the Service and, for IPv4 rules of the newer kinds, the
// IP that is asked for.
func (b *builder) ruleDescription(r Rule) string {
	if !isNewer(b.in.Kind) {
		return legacyDescription(ServiceName(b.in.Owner))
	}
	d := v2Description{ServiceName: ServiceName(b.in.Owner)}
	if r.IPVersion == VersionIPv4 {
		d.APIVersion = apiVersionGA
		if !r.Wish {
			d.ServiceIP = r.IP
		}
	}
	return d.String()
}

// targetPool builds the older external kind. Its rule takes a range of ports.
func (b *builder) targetPool() {
	b.ips[VersionIPv4] = b.chooseIP(VersionIPv4)
	pool := stack.Key{Kind: KindPool}
	b.putRule(ruleIPv4, Rule{
		IPVersion: VersionIPv4, Protocol: b.protocol(), Ports: portRange(b.portsOf("")), Target: stack.RefTo(pool), Tier: b.tier,
	})
	b.put(pool, Pool{
		Name: b.names.lb, Description: legacyDescription(ServiceName(b.in.Owner)), Affinity: sessionAffinity(b.in.Service),
		Checks: []stack.Ref{b.check()}, Instances: b.poolInstances(),
	})
	b.reserve(VersionIPv4, b.ips[VersionIPv4])
	b.clientFirewalls()
}

// internalIG builds the older internal kind.
func (b *builder) internalIG() {
	b.ips[VersionIPv4] = b.chooseIP(VersionIPv4)
	spec := Backend{
		Name: b.names.lb, Description: legacyDescription(ServiceName(b.in.Owner)), Scheme: SchemeInternal,
		Protocol: b.protocol(), Affinity: sessionAffinity(b.in.Service), Checks: []stack.Ref{b.check()}, Groups: b.groups(),
	}
	key := stack.Key{Kind: KindBackend, Name: keyLegacy}
	if b.sharesBackend() {
		spec.Name, spec.Description = b.names.sharedBackend(sharedBackendOf(b.in.Service)), ""
		key.Name = spec.Name
	}
	if found, ok := b.found(key); ok {
		old, _ := found.Spec.(Backend)
		spec.Draining = old.Draining // this kind does not manage it
	}
	if b.sharesBackend() {
		b.share(key, spec)
	} else {
		b.put(key, spec)
	}
	ports, _ := portList(b.portsOf(""))
	b.putRule(ruleIPv4, Rule{
		IPVersion: VersionIPv4, Protocol: b.protocol(), Ports: ports, Backend: stack.RefTo(key),
		Network: b.facts.Network, Subnet: b.subnet, GlobalAccess: b.globalAccess(), Tier: TierPremium,
	})
	b.reserve(VersionIPv4, b.ips[VersionIPv4])
	b.clientFirewalls()
}

// sharesBackend: a shared backend service has one health check, so policy Local
// rules it out.
func (b *builder) sharesBackend() bool {
	return (shareKey.Get(b.in.Values) || oldShareKey.Get(b.in.Values)) && !b.local
}

func (b *builder) globalAccess() bool {
	yes := globalKey.Get(b.in.Values)
	if yes && b.facts.Legacy {
		b.report(globalKey.Warning(b.in.Values, "has no effect, because the network has no subnets", ""))
		return false
	}
	return yes
}

// newer builds the kinds with a backend service of the newer names.
func (b *builder) newer() {
	key := stack.Key{Kind: KindBackend, Name: keyV2}
	for _, v := range []string{VersionIPv4, VersionIPv6} {
		if v == VersionIPv4 && b.hasIPv4() || v == VersionIPv6 && b.hasIPv6() {
			b.ips[v] = b.chooseIP(v)
		}
	}
	b.put(key, b.newerBackend(b.check()))
	if b.hasIPv4() {
		b.rulesIPv4(stack.RefTo(key))
		b.reserve(VersionIPv4, b.ips[VersionIPv4])
	}
	if b.hasIPv6() {
		b.ruleIPv6(stack.RefTo(key))
		b.reserve(VersionIPv6, b.ips[VersionIPv6])
	}
	b.holdLeaving()
	b.clientFirewalls()
}

// rulesIPv4 wants one rule; for mixed protocols one for all of IP, or externally
// one for each protocol unless the configuration says otherwise.
func (b *builder) rulesIPv4(backend stack.Ref) {
	base := Rule{IPVersion: VersionIPv4, Backend: backend, Tier: b.tier}
	if b.scheme == SchemeInternal {
		base.Tier, base.Network, base.Subnet, base.GlobalAccess = TierPremium, b.facts.Network, b.subnet, b.globalAccess()
	}
	switch {
	case b.mixed() && (b.scheme == SchemeInternal || b.in.Config.L3Rules):
		base.Protocol, base.Ports = protocolL3, Ports{All: true}
		b.putRule(ruleL3, base)
	case b.mixed():
		for _, p := range b.protocols() {
			rule := base
			rule.Protocol, rule.Ports = string(p), b.discrete(b.portsOf(p), true)
			b.putRule(strings.ToLower(string(p)), rule)
		}
	default:
		base.Protocol = b.protocol()
		key := ruleIPv4
		if b.scheme == SchemeInternal {
			key = strings.ToLower(base.Protocol)
			base.Ports, _ = portList(b.portsOf(""))
		} else {
			base.Ports = b.discrete(b.portsOf(""), b.in.Config.DiscretePorts)
		}
		b.putRule(key, base)
	}
}

// discrete lists the ports of an external rule where that is wanted and possible.
func (b *builder) discrete(ports []int32, wanted bool) Ports {
	if list, ok := portList(ports); ok && wanted {
		return list
	}
	return portRange(ports)
}

// ruleIPv6 wants one rule. For mixed protocols it is for all of IP; a live one
// for the first protocol alone, as the official controller makes it, stays unless
// the configuration asks for the other.
func (b *builder) ruleIPv6(backend stack.Ref) {
	rule := Rule{IPVersion: VersionIPv6, Backend: backend, Tier: TierPremium, Protocol: b.protocol()}
	key := ruleIPv6
	if b.scheme == SchemeInternal {
		rule.Network, rule.Subnet, rule.GlobalAccess = b.facts.Network, b.subnet, b.globalAccess()
		rule.Ports, _ = portList(b.portsOf(""))
		key = strings.ToLower(rule.Protocol) + SuffixIPv6
	} else {
		if b.collection(VersionIPv6) == "" {
			rule.Subnet = b.subnetIPv6
		}
		rule.Ports = b.discrete(b.portsOf(""), b.in.Config.DiscretePorts)
	}
	if b.mixed() {
		if old, ok := b.partial(); ok {
			b.report(annotations.ProblemOf("spec.ports", "", "are of two protocols, but the IPv6 rule serves "+old.Protocol+" only; set enable-l3-default-forwarding-rule-for-netlb-mixed-protocol to have it replaced", "", annotations.Warning))
			rule.Protocol, rule.Ports = old.Protocol, old.Ports
		} else {
			rule.Protocol, rule.Ports, key = protocolL3, Ports{All: true}, ruleL3IPv6
		}
	}
	b.putRule(key, rule)
}

// partial is the live external IPv6 rule that serves one of two protocols.
func (b *builder) partial() (Rule, bool) {
	found, ok := b.found(stack.Key{Kind: KindExternalRule, Name: ruleIPv6})
	rule, _ := found.Spec.(Rule)
	return rule, ok && b.scheme == SchemeExternal && !b.in.Config.L3Rules && rule.Protocol != protocolL3 &&
		slices.Contains(b.protocols(), corev1.Protocol(rule.Protocol))
}

func sessionAffinity(svc *corev1.Service) string {
	if svc.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		return affinityClientIP
	}
	return AffinityNone
}
