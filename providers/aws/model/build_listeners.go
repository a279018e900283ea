package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// certificateFor is the certificate of one port; empty without TLS.
func certificateFor(values *annotations.Bag, p nodeports.ServicePort) string {
	if p.Protocol != corev1.ProtocolTCP || !sslPortsKey.Get(values).Has(corev1.ServicePort{Name: p.Name, Port: p.Port}) {
		return ""
	}
	return certKey.Get(values)
}

// classicListeners makes a listener of every port, and sets the security policy
// on those with TLS.
func (b *builder) classicListeners(ports []nodeports.ServicePort) {
	var listeners []stack.Resource
	for _, p := range ports {
		if l, ok := b.classicListener(p); ok {
			key := stack.Key{Kind: KindClassicPort, Name: Decimal(p.Port)}
			listeners = append(listeners, stack.Resource{Key: key, In: ClassicKey(), Slot: PortSlot(p.Port), Spec: l})
		}
	}
	policy, from, wanted := sslPolicyKey.Lookup(b.in.Values)
	for _, r := range b.provenFirst(listeners) {
		b.out.Put(r)
		l, _ := r.Spec.(ClassicPort)
		served := slices.ContainsFunc(ports, func(p nodeports.ServicePort) bool { return p.Port == l.Port })
		if !wanted || !served || l.Certificate == "" {
			continue
		}
		ref := b.policy(ClassicPolicy{Name: sslPolicyName(policy), Type: sslPolicyType, Attributes: Tags{sslPolicyAttr: policy}})
		b.put(KindClassicSSL, Decimal(l.Port), r.Key, ClassicPolicies{Port: l.Port, Policies: []stack.Ref{ref}})
	}
	if wanted && certificateOf(listeners) == "" && certKey.Get(b.in.Values) != "" {
		b.report(warnAbout(from, "has no effect, because no port has TLS", "")...)
	}
}

// classicListener is the table of protocols.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go (buildListener).
func (b *builder) classicListener(p nodeports.ServicePort) (ClassicPort, bool) {
	l := ClassicPort{
		Balancer: b.lb, Port: p.Port, InstancePort: p.NodePort,
		Protocol: "TCP", InstanceProtocol: "TCP", Certificate: certificateFor(b.in.Values, p),
	}
	backend, from, _ := backendKey.Lookup(b.in.Values)
	if l.Certificate == "" {
		if backend == "http" {
			l.Protocol, l.InstanceProtocol = "HTTP", "HTTP"
		}
		return l, true
	}
	switch backend {
	case "", "tcp":
		l.Protocol = "SSL"
	case "ssl":
		l.Protocol, l.InstanceProtocol = "SSL", "SSL"
	case "http":
		l.Protocol, l.InstanceProtocol = "HTTPS", "HTTP"
	case "https":
		l.Protocol, l.InstanceProtocol = "HTTPS", "HTTPS"
	default:
		b.report(refuseValue(from, "is not a protocol for a certificate", backendLegal)...)
		return l, false
	}
	return l, true
}

// networkListeners makes a listener and a target group of every port.
func (b *builder) networkListeners(ports []nodeports.ServicePort, tags Tags) {
	attributes, _, managed := targetAttrKey.Lookup(b.in.Values)
	machines := b.networkTargets(len(ports))
	for _, p := range ports {
		group := b.targetGroup(p, tags)
		name := PortKey(p.Protocol, p.Port)
		key := stack.Key{Kind: KindTargetGroup, Name: name}
		b.put(KindTargetGroup, name, stack.Key{}, group)
		b.put(KindTargets, name, key, Targets{Targets: targetsAt(machines, p.NodePort)})
		if managed && len(attributes) > 0 {
			b.put(KindTargetAttr, name, key, Attributes{Values: attributes})
		}
		listener := Listener{Port: p.Port, Protocol: strings.ToUpper(string(p.Protocol)), TargetGroup: stack.RefTo(key), Tags: tags}
		if cert := certificateFor(b.in.Values, p); cert != "" {
			listener.Protocol, listener.Certificate = "TLS", cert
			listener.SSLPolicy = sslPolicyKey.Get(b.in.Values)
		}
		listener = b.handOver(name, listener, p.NodePort)
		b.out.Put(stack.Resource{
			Key: stack.Key{Kind: KindListener, Name: name}, In: networkKey(), Slot: PortSlot(p.Port), Spec: listener,
		})
	}
}

func (b *builder) targetGroup(p nodeports.ServicePort, tags Tags) TargetGroup {
	group := TargetGroup{
		Protocol: strings.ToUpper(string(p.Protocol)), Port: p.NodePort, VPC: b.facts.VPC, TargetType: "instance", Tags: tags,
	}
	if certificateFor(b.in.Values, p) != "" && backendKey.Get(b.in.Values) == "ssl" {
		group.Protocol = "TLS"
	}
	check := networkCheck(b.in)
	group.CheckProtocol, group.CheckPort, group.CheckPath = check.protocol, check.port, check.path
	group.CheckInterval = check.interval
	if check.timeout > 0 {
		group.CheckTimeout = &check.timeout
	}
	group.Healthy, group.Unhealthy = check.healthy, check.unhealthy
	group.Name = TargetGroupName(b.facts.Cluster.ID, b.in.Owner, p.Port, group)
	return group
}

// targetsAt are the instances as targets on one port.
func targetsAt(ids []string, port int32) []Target {
	out := make([]Target, 0, len(ids))
	for _, id := range ids {
		out = append(out, Target{ID: id, Port: port})
	}
	return slices.Clip(out)
}
