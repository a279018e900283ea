package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// served is one port of the load balancer.
type served struct {
	protocol string // of the Service: TCP, UDP, or TCP_AND_UDP
	port     nodeports.ServicePort
}

// servedPorts are the ports of the Service; nlb has one for TCP and UDP together.
// Source: load_balancer_spec.go (getBackendSetNamePortMap).
func (b *builder) servedPorts() []served {
	var out []served
	for _, p := range b.in.Backends.Ports {
		at := slices.IndexFunc(out, func(s served) bool { return s.port.Port == p.Port })
		if at < 0 {
			out = append(out, served{string(p.Protocol), p})
			continue
		}
		if out[at].port.NodePort != p.NodePort {
			b.problems.Refuse("spec.ports", p.String(), "has another node port than "+out[at].port.String()+": a network load balancer sends both to the same one", "the same nodePort for TCP and UDP")
		}
		out[at].protocol = protocolTCPUDP
	}
	return out
}

// ports wants a listener with its backend set for every port of the Service and family.
func (b *builder) ports() {
	names := b.ruleSets()
	front, behind := b.certificate(tlsSecretKey), b.certificate(backendSecretKey)
	for _, s := range b.servedPorts() {
		if b.in.Ended() {
			return
		}
		for _, f := range b.familiesOf() {
			six := f == corev1.IPv6Protocol
			set := stack.Key{Kind: b.product.Set, Name: setName(s.protocol, s.port.Port, six)}
			key := stack.Key{Kind: b.product.Listener, Name: PortKey(s.port.Port, six)}
			back, listener := b.backendSet(set, s, f), b.listener(key, s, f, stack.RefTo(set), names)
			if tlsPortsKey.Get(b.in.Values).Has(corev1.ServicePort{Name: s.port.Name, Port: s.port.Port}) && b.in.Kind == LB {
				listener.encrypt(front, b.managed(s.port.Port), listenerSSLKey.Get(b.in.Values))
				back.encrypt(behind, backendSSLKey.Get(b.in.Values))
			}
			b.out.Put(stack.Resource{Key: set, In: b.product.key(), Spec: back})
			b.out.Put(stack.Resource{Key: key, In: b.product.key(), Slot: "port " + key.Name, Spec: listener})
		}
	}
}

// ruleSets adds the rule sets that the Service names to the desired stack, and returns
// their names. Where the Service names none, existing rule sets are retained.
func (b *builder) ruleSets() []string {
	if b.in.Kind != LB {
		return nil
	}
	sets, _, said := ruleSetsKey.Lookup(b.in.Values)
	if !said {
		for _, r := range b.have.Of(KindRuleSet) {
			b.out.Put(stack.Resource{Key: r.Key, In: r.In, Spec: r.Spec})
		}
		return nil
	}
	names := []string{}
	for name, items := range sets {
		names = append(names, name)
		b.out.Put(stack.Resource{Key: stack.Key{Kind: KindRuleSet, Name: name}, In: b.product.key(), Spec: RuleSet{Name: name, Items: items}})
	}
	slices.Sort(names)
	b.out.Sort()
	return names
}

func (b *builder) backendSet(key stack.Key, s served, family corev1.IPFamily) BackendSet {
	set := BackendSet{Name: key.Name, Policy: b.policy(), Health: b.health(), Preserve: preservesSource(b.in), Backends: b.backends(s.port, family)}
	if b.in.Kind == NLB {
		set.Version = versionName(family)
	}
	var found BackendSet
	if r, ok := b.have.Get(key); ok {
		var is bool
		if found, is = r.Spec.(BackendSet); is {
			set.Rest, set.Backends = found.Rest, keepSettings(set.Backends, found.Backends)
			set.Opens = len(subtractPorts(set.ports(), found.ports())) > 0 || set.Preserve && !found.Preserve
			set.Leaves = subtractPorts(found.ports(), append(set.ports(), nodeports.KubeProxyPort))
		}
	}
	b.extend(&set, found)
	return set
}

// ports returns the ports of nodes that the load balancer sends to, in order.
func (s BackendSet) ports() []int32 {
	out := []int32{s.Health.Port}
	for _, b := range s.Backends {
		out = append(out, b.Port)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// subtractPorts returns the members of a list that are not in another one.
func subtractPorts(list, other []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(list), func(n int32) bool { return slices.Contains(other, n) })
}

func versionName(f corev1.IPFamily) string {
	if f == corev1.IPv6Protocol {
		return V6
	}
	return V4
}

// policy is how backends are chosen: sessions that stay with the client's address choose
// by it.
func (b *builder) policy() string {
	key, sticky := policyKey, "IP_HASH"
	if b.in.Kind == NLB {
		key, sticky = netPolicyKey, "TWO_TUPLE"
	}
	policy, _, said := key.Lookup(b.in.Values)
	if !said && b.in.Service.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		return sticky
	}
	return policy
}

// healthy is what a node answers that is well.
const healthy = 200

// health is the check that asks kube-proxy.
// Source: load_balancer_spec.go (getHealthChecker).
func (b *builder) health() Health {
	in := b.in
	return Health{
		Protocol: protocolHTTP, Path: nodeports.HealthPath, Port: healthPort(in), Code: healthy, Plain: in.Kind == LB && backendSecretKey.Get(in.Values) != "",
		Retries: keyForKind(in, retriesKey, netRetriesKey), Interval: keyForKind(in, intervalKey, netIntervalKey), Timeout: keyForKind(in, timeoutKey, netTimeoutKey),
	}
}

func healthPort(in Input) int32 {
	if check := in.Service.Spec.HealthCheckNodePort; nodeports.LocalOnly(in.Service) && check != 0 {
		return check
	}
	return nodeports.KubeProxyPort
}

// backends are the nodes behind a port, in order.
func (b *builder) backends(p nodeports.ServicePort, family corev1.IPFamily) []Backend {
	var out []Backend
	for node := range b.in.Backends.Nodes.All() {
		address, ok := node.Address(family)
		if !ok || p.NodePort == 0 {
			continue
		}
		one := Backend{Address: address.String(), Port: p.NodePort, Weight: 1}
		if b.in.Kind == NLB && family == corev1.IPv4Protocol {
			one.Target = InstanceID(node)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, Backend.Compare)
	return out
}

// Compare orders backends by address and port.
func (b Backend) Compare(o Backend) int {
	return cmp.Or(strings.Compare(b.Address, o.Address), cmp.Compare(b.Port, o.Port))
}

// keepSettings copies the settings of existing backends to the desired ones: only the
// operator sets weight, backup, drain and offline.
func keepSettings(want, found []Backend) []Backend {
	for i, w := range want {
		at := slices.IndexFunc(found, func(f Backend) bool { return f.Address == w.Address && f.Port == w.Port })
		if at >= 0 {
			want[i].Weight, want[i].Backup, want[i].Drain, want[i].Offline = found[at].Weight, found[at].Backup, found[at].Drain, found[at].Offline
		}
	}
	slices.SortFunc(want, Backend.Compare)
	return want
}

func addressOf(b Backend) netip.Addr {
	a, _ := netip.ParseAddr(b.Address) // the API's own
	return a
}

// listener returns the desired listener of a port. An existing listener keeps its name, and
// all settings that the Service does not specify.
func (b *builder) listener(key stack.Key, s served, family corev1.IPFamily, set stack.Ref, ruleSets []string) Listener {
	in := b.in
	l := Listener{Protocol: s.protocol, Port: s.port.Port, Set: set, RuleSets: ruleSets}
	if in.Kind == LB {
		l.Protocol = protocolKey.Get(in.Values)
		l.Proxy = proxyKey.Get(in.Values)
		if idle := idleKey.Get(in.Values); idle != DefaultIdle(l.Protocol) {
			l.Idle = idle
		}
	} else {
		l.Version = versionName(family)
		if ppv2Key.Get(in.Values) {
			l.Proxy = 2
		}
	}
	l.Name = setName(l.Protocol, l.Port, family == corev1.IPv6Protocol)
	if r, ok := b.have.Get(key); ok {
		if found, is := r.Spec.(Listener); is {
			l.Name, l.Rest = found.Name, found.Rest
			if ruleSets == nil {
				l.RuleSets = found.RuleSets
			}
		}
	}
	return l
}

// Idle timeouts of listeners that say nothing, in seconds.
// Source: Load Balancer documentation, connection management.
const (
	idleTCP  = 300
	idleHTTP = 60
)

// DefaultIdle is the idle timeout of a protocol, in seconds.
func DefaultIdle(protocol string) int {
	if protocol == protocolTCP {
		return idleTCP
	}
	return idleHTTP
}
