package model

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports wants a listener with its pool for every port of the Service.
func (b *builder) ports() {
	b.conflicts()
	b.elsewhere()
	for i, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		listener, pool := protocolsOf(b.in, p.Protocol)
		key := PortKey(listener, p.Port)
		poolKey := stack.Key{Kind: KindPool, Name: key}
		b.out.Put(stack.Resource{Key: poolKey, In: balancerKey(), Spec: Pool{
			Name: partName("pool", i, b.name), Protocol: pool, Algorithm: b.method(), Sticky: b.in.Service.Spec.SessionAffinity == corev1.ServiceAffinityClientIP,
			Claim: b.claim(key),
		}})
		b.out.Put(stack.Resource{Key: stack.Key{Kind: KindMembers, Name: key}, In: poolKey, Spec: b.members(p, key)})
		if hasMonitor(b.in) {
			b.out.Put(stack.Resource{Key: stack.Key{Kind: KindMonitor, Name: key}, In: poolKey, Spec: b.monitor(i, p)})
		}
		b.out.Put(stack.Resource{
			Key: stack.Key{Kind: KindListener, Name: key}, In: balancerKey(), Slot: "port " + key, Spec: b.listener(i, p, listener, stack.RefTo(poolKey)),
		})
	}
}

// elsewhere warns that existing members keep their subnet when the Service names another
// one.
func (b *builder) elsewhere() {
	if _, _, said := memberSubnetKey.Lookup(b.in.Values); !said || b.have == nil {
		return
	}
	for _, spec := range stack.Each[Members](b.have, KindMembers) {
		if slices.ContainsFunc(spec.Members, func(m Member) bool { return m.Subnet != "" && m.Subnet != memberSubnetKey.Get(b.in.Values) }) {
			b.notApplied(memberSubnetKey.Warning(b.in.Values, "is not applied to existing members, whose subnet Octavia cannot change; it is for nodes that are added later", ""))
			return
		}
	}
}

// conflicts refuses ports of a shared load balancer that others have, or that an older
// Service asks for at the same time.
func (b *builder) conflicts() {
	_, balancer, _ := b.found()
	for _, p := range b.in.Backends.Ports {
		listener, _ := protocolsOf(b.in, p.Protocol)
		key := PortKey(listener, p.Port)
		r, there := b.have.Get(stack.Key{Kind: KindListener, Name: key})
		claim, claimed := b.facts.Claims[ClaimKey(balancer.ID, key)]
		switch {
		case !there && claimed && claim.Owner != b.in.Owner:
			b.taken(p, "is asked for on this load balancer by Service "+claim.Owner.String()+" as well, which is older")
		case there && r.Proof == stack.None:
			spec, _ := r.Spec.(Listener)
			b.taken(p, "is taken on this load balancer by "+listenerText(spec, b.in.Cluster))
		}
	}
}

// listenerText names the listener of another owner, and the Service that its tag or its name
// tells.
func listenerText(l Listener, cluster string) string {
	marks := slices.Clone(l.Tags)
	if at := strings.Index(l.Name, OwnPrefix); at >= 0 {
		marks = append(marks, l.Name[at:])
	}
	for _, mark := range marks {
		if o, ok := OwnerOf(mark, cluster); ok {
			return "Service " + o.String() + ", listener " + strconv.Quote(l.Name)
		}
	}
	return "the listener " + strconv.Quote(l.Name) + ", which is not this Service's"
}

// taken refuses a port for as long as another Service has it.
func (b *builder) taken(p nodeports.ServicePort, why string) {
	b.problems = append(b.problems, annotations.Problem{Severity: annotations.Error, Key: "spec.ports", Value: p.String(), Message: why, Legal: "a port that is free there", Taken: true})
}

// claim returns the claim to the Service's port that a new part of a shared load balancer
// carries; empty where no other Service can ask for the port.
func (b *builder) claim(key string) string {
	spec, there, ok := b.found()
	if !ok || !b.in.Config.Features.Tags || there.Ownership != stack.External && len(OtherTags(spec.Tags, b.name)) == 0 {
		return ""
	}
	if r, has := b.have.Get(stack.Key{Kind: KindListener, Name: key}); has && r.Proof != stack.None {
		return "" // the port is the Service's already
	}
	return claimFor(key, b.in.Service.CreationTimestamp.Unix(), b.name)
}

func (b *builder) listener(index int, p nodeports.ServicePort, protocol string, pool stack.Ref) Listener {
	in, f := b.in, b.in.Config.Features
	l := Listener{Name: partName("listener", index, b.name), Protocol: protocol, Port: p.Port, Pool: pool, Limit: limitKey.Get(in.Values), TLS: tlsRef(in), Claim: b.claim(PortKey(protocol, p.Port))}
	if f.Tags {
		l.Tags = []string{b.name}
	}
	if forwardedKey.Get(in.Values) {
		l.Headers = map[string]string{"X-Forwarded-For": "true"}
	}
	if f.Ranges {
		l.Ranges = clientRanges(in)
	}
	if f.Timeouts {
		l.Timeouts = Timeouts{
			Known: true, ClientData: clientTimeoutKey.Get(in.Values), MemberConnect: connectTimeoutKey.Get(in.Values),
			MemberData: memberTimeoutKey.Get(in.Values), Inspect: inspectTimeoutKey.Get(in.Values),
		}
	}
	return l
}

// members returns the nodes behind a port, in order. A found member keeps its subnet, which
// Octavia cannot change.
func (b *builder) members(p nodeports.ServicePort, key string) Members {
	if p.NodePort == 0 {
		return Members{}
	}
	found, _ := stack.SpecOf[Members](b.have, stack.Key{Kind: KindMembers, Name: key})
	var out []Member
	for node := range b.in.Backends.Nodes.All() {
		address, ok := node.Address(ipFamily(b.in))
		if !ok {
			continue
		}
		m := Member{Name: node.Name, Address: address.String(), Port: p.NodePort, Subnet: b.subnet}
		if i := slices.IndexFunc(found.Members, func(f Member) bool { return f.Address == m.Address && f.Port == m.Port }); i >= 0 {
			m.Subnet = found.Members[i].Subnet
		}
		if b.in.Config.Serial {
			m.Name = serialName(m)
		}
		if hasMonitor(b.in) && byHTTP(b.in, p.Protocol) {
			m.Check = b.in.Service.Spec.HealthCheckNodePort
		}
		out = append(out, m)
	}
	slices.SortFunc(out, compareMembers)
	return Members{Members: out, Ranges: b.ranges(out, found.Ranges)}
}

// ranges returns the addresses of the subnets that members are in, where security groups
// are built from them.
func (b *builder) ranges(members []Member, found map[string]netip.Prefix) map[string]netip.Prefix {
	if !b.in.Config.ManageGroups {
		return nil
	}
	out := map[string]netip.Prefix{}
	for _, m := range members {
		if s, ok := b.facts.Subnets[m.Subnet]; ok {
			out[m.Subnet] = s.CIDR
		} else if p, ok := found[m.Subnet]; ok {
			out[m.Subnet] = p
		}
	}
	return out
}

// SerialPrefix begins the names of members that are made one by one.
const SerialPrefix = "member_"

// serialName is the name of a member where members are made one by one.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go.
func serialName(m Member) string {
	return truncateText(fmt.Sprintf(SerialPrefix+"%s_%s_%d", m.Name, m.Address, m.Port))
}

// checkType is the type of the health check of a protocol.
func checkType(protocol corev1.Protocol) string {
	switch protocol {
	case corev1.ProtocolUDP:
		return "UDP-CONNECT"
	case corev1.ProtocolSCTP:
		return "SCTP"
	case corev1.ProtocolTCP:
	}
	return "TCP"
}

func (b *builder) monitor(index int, p nodeports.ServicePort) Monitor {
	in, c := b.in, b.in.Config
	m := Monitor{
		Name: partName("monitor", index, b.name), Type: checkType(p.Protocol),
		Delay: delayKey.Or(in.Values, int(c.MonitorDelay.Seconds())), Timeout: timeoutKey.Or(in.Values, int(c.MonitorTimeout.Seconds())),
		Retries: retriesKey.Or(in.Values, c.MonitorRetries), RetriesDown: retriesDownKey.Or(in.Values, c.MonitorRetriesDown),
	}
	if byHTTP(in, p.Protocol) {
		m.Type, m.Path, m.Method, m.Codes = "HTTP", "/healthz", "GET", "200"
	}
	return m
}
