package model

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// rules adds the rules and probes of a family.
func (b *builder) rules(family corev1.IPFamily) {
	frontend := b.nameFor(family)
	if frontend == "" {
		return // its problem is recorded
	}
	base := Rule{
		Frontend: frontend, Pool: b.poolFor(family), Distribution: "Default", IdleTimeout: int32(idleKey.Get(b.in.Values)),
		NoSNAT: b.in.Config.NoSNAT,
	}
	if b.in.Service.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		base.Distribution = "SourceIP"
	}
	if haKey.Get(b.in.Values) && b.in.Kind == Internal {
		b.allPorts(base, family)
		return
	}
	for _, port := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		if !noRuleKey.Port(b.in.Values, port.Port) {
			b.rule(base, port, family)
		}
	}
}

func (b *builder) ruleName(port nodeports.ServicePort, family corev1.IPFamily) string {
	return ruleName(b.base, b.subnetPart(), port.Protocol, port.Port, b.suffix(family))
}

// floats reports whether packets reach the nodes with the frontend's address as their
// destination. Internal IPv6 frontends cannot do that. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func (b *builder) floats(family corev1.IPFamily) bool {
	return !noFloatingKey.Get(b.in.Values) && !(b.in.Kind == Internal && family == corev1.IPv6Protocol)
}

func (b *builder) rule(r Rule, port nodeports.ServicePort, family corev1.IPFamily) {
	r.Name = b.ruleName(port, family)
	r.Protocol, r.FrontendPort, r.BackendPort, r.FloatingIP = wireProtocol(port.Protocol), port.Port, port.Port, b.floats(family)
	if !r.FloatingIP {
		r.BackendPort = port.NodePort
		if port.NodePort == 0 {
			b.fail("spec.ports", port.String(), "has no node port, which rules without floating IP send to", "a port with a node port")
		}
	}
	r.TCPReset = r.Protocol == probeTCP && !noResetKey.Get(b.in.Values)
	if probe, ok := b.probe(port, family); ok && !noProbeKey.Port(b.in.Values, port.Port) {
		r.Probe = probe.Name
		b.entries.Probes = append(b.entries.Probes, probe)
	}
	b.entries.Rules = append(b.entries.Rules, r)
}

// refuseTaken refuses ports that another Service's rule has on the same frontend. Azure would
// refuse the rule after the security group has admitted the clients of this Service.
func (b *builder) refuseTaken() {
	lb, _ := b.onBalancer()
	for _, rule := range b.entries.Rules {
		for _, f := range lb.Frontends {
			for i, p := range f.Serves {
				if i >= len(f.Users) || ownedBy(b.base, f.Users[i]) || !strings.EqualFold(f.Name, rule.Frontend) || !rulesOverlap(rule, p.Protocol, p.Port, p.Port) {
					continue
				}
				b.report(annotations.Problem{
					Severity: annotations.Error, Key: "spec.ports", Value: fmt.Sprintf("%d/%s", rule.FrontendPort, strings.ToUpper(rule.Protocol)), Taken: true,
					Message: "is taken by " + ruleText(b.in.OwnerWhere, f.Users[i]) + " on " + f.Address + ", frontend " + f.Name + " of load balancer " + lb.Name,
					Legal:   "a port that is free there, or another address",
				})
				return
			}
		}
	}
}

// ruleText names a rule, and the Service that it serves if that is known.
func ruleText(find func(func(stack.Owner) bool) (stack.Owner, bool), rule string) string {
	o, known := find(func(o stack.Owner) bool { return o.UID != "" && ownedBy(BaseName(o.UID), rule) })
	if !known {
		return "rule " + rule
	}
	return "Service " + o.String() + ", rule " + rule + ","
}

// wireProtocol: Azure has no SCTP; a rule for all protocols takes it along.
func wireProtocol(p corev1.Protocol) string {
	switch p {
	case corev1.ProtocolUDP:
		return "Udp"
	case corev1.ProtocolSCTP:
		return protocolAll
	case corev1.ProtocolTCP:
	}
	return probeTCP
}

// allPorts is the one rule for all ports and protocols. It is named after the
// first port, and checked by the first probe that there is, which has the rule's
// name whatever port it asks. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func (b *builder) allPorts(r Rule, family corev1.IPFamily) {
	ports := b.in.Backends.Ports
	r.Name, r.Protocol = b.ruleName(ports[0], family), protocolAll
	r.FloatingIP = family != corev1.IPv6Protocol
	r.TCPReset = !noResetKey.Get(b.in.Values)
	for _, port := range ports {
		probe, ok := b.probe(port, family)
		if !ok {
			continue
		}
		if probe.Name == b.ruleName(port, family) {
			probe.Name = r.Name
		}
		r.Probe = probe.Name
		b.entries.Probes = append(b.entries.Probes, probe)
		break
	}
	b.entries.Rules = append(b.entries.Rules, r)
}

// local reports whether nodes are probed on the health check node port, which does not
// accept the PROXY protocol that a private link service may send.
func (b *builder) local() bool {
	return b.in.Backends.Health.Source == nodeports.HealthByService && !(linkCreateKey.Get(b.in.Values) && linkProxyKey.Get(b.in.Values))
}

// probe is the health probe of a port; false: it has none, and Azure takes every
// member for healthy.
func (b *builder) probe(port nodeports.ServicePort, family corev1.IPFamily) (Probe, bool) {
	_, _, own := portPortKey.LookupPort(b.in.Values, port.Port)
	switch {
	case b.local() && !(own && port.Protocol == corev1.ProtocolTCP):
		h := b.in.Backends.Health
		interval, _ := probeNumber(b.in.Values, portIntervalKey, probeIntervalKey, h.Port)
		threshold, _ := probeNumber(b.in.Values, portThresholdKey, probeThresholdKey, h.Port)
		return Probe{
			Name:     ruleName(b.base, b.subnetPart(), corev1.ProtocolTCP, h.Port, b.suffix(family)),
			Protocol: probeHTTP, Port: h.Port, Path: h.Path, Interval: int32(interval), Threshold: int32(threshold),
		}, true
	case b.in.Config.SharedProbe && !nodeports.LocalOnly(b.in.Service):
		return Probe{Name: sharedProbe, Protocol: probeHTTP, Port: b.in.Config.ProbePort, Path: b.in.Config.ProbePath, Interval: 5, Threshold: 2}, true
	case port.Protocol != corev1.ProtocolTCP:
		return Probe{}, false
	}
	return b.ownProbe(port, family), true
}

// ownProbe asks the port itself.
func (b *builder) ownProbe(port nodeports.ServicePort, family corev1.IPFamily) Probe {
	interval, _ := probeNumber(b.in.Values, portIntervalKey, probeIntervalKey, port.Port)
	threshold, _ := probeNumber(b.in.Values, portThresholdKey, probeThresholdKey, port.Port)
	p := Probe{Name: b.ruleName(port, family), Port: port.NodePort, Interval: int32(interval), Threshold: int32(threshold)}
	if n, _, ok := portPortKey.LookupPort(b.in.Values, port.Port); ok {
		p.Port = int32(n)
	}
	if p.Port == 0 && !noProbeKey.Port(b.in.Values, port.Port) {
		b.fail("spec.ports", port.String(), "has no node port that could be probed", noProbeKey.Name+", or a port with a node port")
	}
	protocol, guessed := b.probeProtocol(port)
	p.Protocol = protocol
	if protocol == probeTCP {
		return p
	}
	path, from := "/", annotations.Origin{}
	if all, origin, ok := probePathKey.Lookup(b.in.Values); ok {
		path, from = all, origin
	}
	if own, origin, ok := portPathKey.LookupPort(b.in.Values, port.Port); ok {
		path, from = own, origin
	}
	p.Path = path
	if guessed && from.Key == "" {
		b.report(annotations.ProblemOf(fmt.Sprintf("appProtocol of port %d", port.Port), port.AppProtocol,
			"makes the probe ask for "+path+" by "+protocol+", and nodes get no traffic unless that answers 200", "a path in "+probePathKey.Name+", or a protocol in "+probeProtocolKey.Name, annotations.Warning))
	}
	return p
}

// probeProtocol: the key of the port, then appProtocol, then the key of all.
// guessed: it is that of appProtocol, which says nothing about health checks.
func (b *builder) probeProtocol(port nodeports.ServicePort) (protocol string, guessed bool) {
	if p, _, ok := portProtocolKey.LookupPort(b.in.Values, port.Port); ok {
		return p, false
	}
	if port.AppProtocol != "" {
		switch lowerCase(strings.TrimSpace(port.AppProtocol)) {
		case "http":
			return probeHTTP, true
		case "https":
			return probeHTTPS, true
		}
		return probeTCP, false
	}
	return probeProtocolKey.Or(b.in.Values, probeTCP), false
}
