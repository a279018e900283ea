package model

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

const (
	FamilyIPv6 = "ipv6"
	// ZoneOutside is the zone of a target whose address is outside of the VPC.
	ZoneOutside = "all"
)

// listeners makes a listener and a target group of every port, and target groups of the ports
// of other Services that get a share.
func (f *controlled) listeners(ports, others []lbcPort) {
	ports = f.fitPorts(ports)
	var machines []string
	if f.target == targetInstance {
		machines = f.networkTargets(len(ports) + len(others))
	}
	for _, p := range others {
		f.targets(p, machines)
	}
	for _, p := range ports {
		if f.target == targetInstance && p.NodePort == 0 {
			f.report(annotations.ProblemOf("spec.ports", p.String(), "has no node port, and this load balancer sends to node ports", targetTypeKey.Name+`: "ip", or spec.allocateLoadBalancerNodePorts`, annotations.Error))
			continue
		}
		f.listener(p, f.targets(p, machines))
	}
	f.reportUnmatchedAttributes(ports)
}

// targets makes the target group of a port, and returns its key.
func (f *controlled) targets(p lbcPort, machines []string) stack.Key {
	key := stack.Key{Kind: KindTargetGroup, Name: p.key()}
	f.put(KindTargetGroup, key.Name, stack.Key{}, f.group(p))
	f.put(KindTargets, key.Name, key, Targets{Targets: f.targetsOf(p, machines), Own: f.shared})
	f.put(KindTargetAttr, key.Name, key, Attributes{Values: f.targetAttributes(p), Type: f.target})
	return key
}

func (f *controlled) listener(p lbcPort, group stack.Key) {
	l := Listener{Port: p.Port, Protocol: p.listener, TargetGroup: stack.RefTo(group), Tags: f.tagged(Decimal(p.Port))}
	key := stack.Key{Kind: KindListener, Name: group.Name}
	if len(p.certs) > 0 {
		l.Certificate = p.certs[0]
		l.SSLPolicy = sslPolicyKey.Or(f.in.Values, f.c.SSLPolicy)
		l.ALPN = alpnKey.Get(f.in.Values)
		f.put(KindCertificates, key.Name, key, Certificates{ARNs: slices.Sorted(slices.Values(p.certs[1:]))})
	}
	if action, from, said := actionsKey.LookupPortProtocol(f.in.Values, p.Port, p.listener); said {
		l = l.share(action, func(t targetTuple) stack.Ref {
			o, _ := f.otherOf(p, t, from)
			return stack.RefTo(stack.Key{Kind: KindTargetGroup, Name: o.key()})
		})
	}
	l = f.handOver(key.Name, l, p.NodePort)
	f.out.Put(stack.Resource{Key: key, In: f.balancer, Slot: SlotIn(f.ofGroup, p.Port), Spec: l})
	if values, _, said := listenerAttrKey.LookupPortProtocol(f.in.Values, p.Port, p.listener); said && len(values) > 0 && p.listener != ProtocolTLS {
		f.put(KindListenerAttr, key.Name, key, Attributes{Values: values})
	}
}

// strayAttributes tells of attributes and actions that no listener takes.
func (f *controlled) reportUnmatchedAttributes(ports []lbcPort) {
	for _, use := range listenerAttrKey.All(f.in.Values) {
		fits := slices.ContainsFunc(ports, func(p lbcPort) bool {
			return p.Port == use.Port && p.listener == use.Protocol && p.listener != ProtocolTLS
		})
		if !fits {
			f.report(warnAbout(use.Origin, "has no effect: it names a port without a listener, or a TLS listener, which has no attributes", "")...)
		}
	}
	for _, use := range actionsKey.All(f.in.Values) {
		if !slices.ContainsFunc(ports, func(p lbcPort) bool { return p.Port == use.Port && p.listener == use.Protocol }) {
			f.report(warnAbout(use.Origin, "has no effect: it names a port without a listener", "")...)
		}
	}
}

// overIPv6 reports whether the target group of a port has IPv6 addresses: it does as
// soon as its Service has one.
func (f *controlled) overIPv6(p lbcPort) bool {
	return slices.Contains(f.behind(p).service.Spec.IPFamilies, corev1.IPv6Protocol)
}

// demandDualStack refuses targets of IPv6 behind a load balancer that has IPv4 addresses only: AWS
// takes no listener for them.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go
// (buildTargetGroupIPAddressType).
func (f *controlled) demandDualStack(p lbcPort) {
	if f.dual {
		return
	}
	svc := f.behind(p).service
	key := "spec.ipFamilies"
	if p.other != nil {
		key += " of Service " + svc.Name
	}
	f.report(annotations.ProblemOf(key, string(corev1.IPv6Protocol), "needs a load balancer with IPv6 addresses, and this one has IPv4 addresses only",
		"IPv4 alone, or "+addressTypeKey.Name+`: "dualstack"`, annotations.Error))
}

// group is the target group of a port. An existing one keeps its port, which only its
// name shows: each target has its own.
func (f *controlled) group(p lbcPort) TargetGroup {
	group := TargetGroup{
		Protocol: p.group, Port: f.groupPort(p), VPC: f.facts.VPC, TargetType: f.target,
		Tags: f.tagged(fmt.Sprintf("%s:%d", ServiceName(f.ownerOf(p)), p.Port)),
	}
	if f.overIPv6(p) {
		group.Family = FamilyIPv6
		f.demandDualStack(p)
	}
	check := f.check(p)
	group.CheckProtocol, group.CheckPort, group.CheckPath = check.protocol, check.port, check.path
	group.CheckInterval, group.CheckTimeout = check.interval, &check.timeout
	group.Healthy, group.Unhealthy = check.healthy, check.unhealthy
	if check.protocol != string(corev1.ProtocolTCP) {
		group.Codes = codesKey.Get(f.in.Values)
	}
	have, _ := f.found(stack.Key{Kind: KindTargetGroup, Name: p.key()})
	old, _ := have.Spec.(TargetGroup)
	sent, _ := f.sendsTo(p.key())
	sends, _ := sent.Spec.(TargetGroup)
	for _, there := range []TargetGroup{old, sends} {
		if there.Protocol == group.Protocol && there.TargetType == group.TargetType && there.Family == group.Family {
			group.Port = there.Port
		}
	}
	group.Name = f.groupNameOf(p, group)
	group.Name = f.nameBeside(p, group)
	return group
}

// nameBeside returns the name of a group. The family is not part of the name, so a group
// that exists or is created beside the group of the other family has a name of its own,
// and keeps it.
func (f *controlled) nameBeside(p lbcPort, group TargetGroup) string {
	second := shortNames(f.ownerOf(p)) + shortHash(group.Name, otherFamily(group.Family), "/", group.Family)
	for r, there := range stack.Each[TargetGroup](f.have, KindTargetGroup) {
		same := there.Family == group.Family
		if r.Proof != stack.None && (there.Name == group.Name && !same || there.Name == second && same) {
			return second
		}
	}
	return group.Name
}

func otherFamily(family string) string {
	if family == FamilyIPv6 {
		return ""
	}
	return FamilyIPv6
}

func (f *controlled) groupPort(p lbcPort) int32 {
	switch {
	case f.target == targetInstance:
		return p.NodePort
	case p.TargetPort.StrVal != "":
		return 1
	}
	return podPort(p.ServicePort)
}

// podPort is the numeric target port of a port.
func podPort(p nodeports.ServicePort) int32 {
	if n := p.TargetPort.IntVal; n > 0 {
		return n
	}
	return p.Port
}

// check is the health check of a port's target group.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go (buildTargetGroupHealthCheckConfig).
func (f *controlled) check(p lbcPort) targetCheck {
	v := f.in.Values
	c := targetCheck{protocol: "TCP", port: trafficPort, path: "/", interval: 10, timeout: 10, healthy: 3, unhealthy: 3}
	if b := f.behind(p); f.target == targetInstance && nodeports.LocalOnly(b.service) && b.service.Spec.Type == corev1.ServiceTypeLoadBalancer {
		c = targetCheck{protocol: "HTTP", port: Decimal(b.backends.Health.Port), path: nodeports.HealthPath, interval: 10, timeout: 6, healthy: 2, unhealthy: 2}
	}
	overrideText(v, checkProtocolKey, &c.protocol)
	overrideText(v, checkPathKey, &c.path)
	if said, _, ok := checkPortKey.Lookup(v); ok {
		c.port = f.checkPort(p, said)
	}
	if c.protocol == "TCP" {
		c.path = ""
	}
	overrideNumber(v, checkIntervalKey, &c.interval)
	overrideNumber(v, checkTimeoutKey, &c.timeout)
	overrideNumber(v, healthyKey, &c.healthy)
	overrideNumber(v, unhealthyKey, &c.unhealthy)
	return c
}

// checkPort is the port of the health check on the targets; a name is that of a port.
func (f *controlled) checkPort(p lbcPort, text string) string {
	ports := f.behind(p).backends.Ports
	i := slices.IndexFunc(ports, func(p nodeports.ServicePort) bool { return p.Name != "" && p.Name == text })
	_, err := strconv.ParseInt(text, 10, 32)
	switch {
	case i < 0 && p.other != nil && err != nil && text != trafficPort:
		f.report(checkPortKey.Refusal(f.in.Values, fmt.Sprintf("names no port of the Service %q, which gets a share of the traffic and is checked the same way", p.other.service.Name), "a number, "+trafficPort+", or a name that both Services have"))
		return text
	case i < 0:
		return text
	case f.target == targetInstance:
		return Decimal(ports[i].NodePort)
	case ports[i].TargetPort.StrVal != "":
		f.report(checkPortKey.Refusal(f.in.Values, "names a port whose target port is a name itself, which may mean another number in each pod", "a port with a numeric target port"))
	}
	return Decimal(podPort(ports[i]))
}

// targetAttributes are those of a port's target group.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go (buildTargetGroupAttributes).
func (f *controlled) targetAttributes(p lbcPort) Tags {
	v := f.in.Values
	out := Over(Tags{attrProxyV2: "false"}, targetAttrKey.Get(v))
	for key, value := range targetAttrPortKey.Port(v, p.Port) {
		if value != "" {
			out[key] = value
		}
	}
	if ports, _, said := proxyPortsKey.Lookup(v); said {
		out[attrProxyV2] = fmt.Sprint(ports.Has(corev1.ServicePort{Port: p.Port}))
	}
	if proxyKey.Get(v) {
		out[attrProxyV2] = "true"
	}
	return out
}

// targetsOf are the targets of a port: the instances on its node port, or the pods.
func (f *controlled) targetsOf(p lbcPort, machines []string) []Target {
	if f.target == targetInstance {
		return targetsAt(machines, p.NodePort)
	}
	var out []Target
	there := f.targetsThere(p)
	for _, e := range f.pods(p) {
		t := Target{ID: e.Addr.String(), Port: e.Port}
		if zone, ok := there[t]; ok {
			t.Zone = zone
		} else if !f.inside(e.Addr) {
			t.Zone = ZoneOutside
		}
		out = append(out, t)
	}
	slices.SortFunc(out, CompareTargets)
	return f.withServers(p, out)
}

// targetsThere are the zones that the targets of a port are registered with, by target
// without zone. An existing target keeps its zone: another zone would require it to be
// deregistered first, and the official controller takes the ranges of the VPC for what
// is inside, not those of its subnets.
func (f *controlled) targetsThere(p lbcPort) map[Target]string {
	have, _ := f.found(stack.Key{Kind: KindTargets, Name: p.key()})
	old, _ := have.Spec.(Targets)
	out := map[Target]string{}
	for _, t := range old.Targets {
		out[Target{ID: t.ID, Port: t.Port}] = t.Zone
	}
	return out
}

// pods are the endpoints of a port: the ready ones, and terminating ones only where none
// is ready, on whatever node. The traffic policy means nothing without a hop over nodes.
func (f *controlled) pods(p lbcPort) []nodeports.Endpoint { return f.podsIn(p, f.overIPv6(p)) }

// podsIn returns the pods of a port in one family.
func (f *controlled) podsIn(p lbcPort, ipv6 bool) []nodeports.Endpoint {
	family := corev1.IPv4Protocol
	if ipv6 {
		family = corev1.IPv6Protocol
	}
	list := f.behind(p).backends.Endpoints.For(family, p.Name)
	lingers := func(e nodeports.Endpoint) bool { return e.Terminating }
	if ready := slices.DeleteFunc(slices.Clone(list), lingers); len(ready) > 0 {
		return ready
	}
	return list
}

// inside reports whether an address is in a subnet of the VPC.
func (f *controlled) inside(a netip.Addr) bool {
	return slices.ContainsFunc(f.facts.Subnets, func(s Subnet) bool { return s.holds(a) })
}

// holds reports whether an address is in the ranges of the subnet.
func (s Subnet) holds(a netip.Addr) bool {
	for _, text := range []string{s.CIDR, s.CIDR6} {
		if p, err := netip.ParsePrefix(text); err == nil && p.Contains(a) {
			return true
		}
	}
	return false
}

// backendPorts are the ports on which targets of a port are reached.
func (f *controlled) backendPorts(p lbcPort) []int32 {
	if f.target == targetInstance {
		return []int32{p.NodePort}
	}
	var out []int32
	for _, e := range f.pods(p) {
		out = append(out, e.Port)
	}
	return sortedSet(out)
}

// checkedPorts are the ports on which targets of a port are checked.
func (f *controlled) checkedPorts(p lbcPort) []int32 {
	if n, err := strconv.ParseInt(f.check(p).port, 10, 32); err == nil {
		return []int32{int32(n)}
	}
	return f.backendPorts(p)
}
