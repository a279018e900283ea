package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// netPorts adds a server group and a listener for each port.
func (b *builder) netPorts() {
	used := map[string]bool{}
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		key, ok := b.serverGroup(p)
		if ok && b.manages() {
			b.netListener(p, key, used)
		}
	}
	if !b.manages() {
		b.keepListeners()
		return
	}
	b.reportUnusedOf(netListenerSettings(), used)
	if _, _, given := moreCertsKey.Lookup(b.in.Values); given && !used[moreCertsKey.Name] {
		b.problems = append(b.problems, moreCertsKey.Warning(b.in.Values, "has no effect: no listener of the Service is one of TCPSSL", protocolKey.Name+" with tcpssl"))
	}
}

// serverGroup adds the server group of a port, and returns its key.
func (b *builder) serverGroup(p nodeports.ServicePort) (key stack.Key, ok bool) {
	port := backendPort(b.in, p)
	ports, isRange := rangesKey.Get(b.in.Values)[p.Port]
	if isRange {
		port = portsText(ports.First, ports.Last)
	}
	if port == "" {
		return key, false
	}
	protocol := protocolOf(b.in, p)
	key = ServerGroupKey(port, protocol)
	found, exists := b.have.Get(key)
	existing, _ := found.Spec.(ServerGroup)
	named := groupPortsKey.Get(b.in.Values)[p.Port]
	if named != "" && b.isExternal() && !b.mayUseGroup(found, exists, named, existing.Name) {
		return key, false
	}
	if _, done := b.out.Get(key); done {
		return key, true
	}
	servers := b.netServers(p, isRange)
	b.reportUnknown(p)
	if total, _, given := totalWeightKey.Lookup(b.in.Values); given && named != "" {
		shareWeight(servers, total, nodeports.LocalOnly(b.in.Service) && !usesPods(b.in))
	}
	want := ServerGroup{
		Name: NetName(port, protocol, b.in.Owner, b.in.Config.ClusterID), Protocol: protocol, Type: groupTypeOf(b.in), AnyPort: isRange, IPVersion: netIPv4,
		Group: groupKey.Or(b.in.Values, b.in.Config.ResourceGroup), Servers: b.keepWeights(servers, existing.Servers), Settings: b.groupSettings(p, isRange), Shared: existing.Shared,
	}
	switch family := backendFamily(b.in); family {
	case ipv6:
		want.IPVersion, want.Affinity = netDualStack, "NonAffinity"
	case dualstack:
		want.IPVersion, want.Affinity = netDualStack, "Affinity"
	}
	if named != "" && b.isExternal() { // the user decides what the group is
		want.Protocol, want.Type, want.IPVersion, want.AnyPort, want.Settings = existing.Protocol, existing.Type, existing.IPVersion, existing.AnyPort, existing.Settings
	}
	b.out.Put(stack.Resource{Key: key, Spec: want})
	return key, true
}

// groupTypeOf returns the type of new server groups.
func groupTypeOf(in Input) string {
	if groupTypeKey.Get(in.Values) == ServerIP {
		return groupIP
	}
	return groupInstance
}

// backendFamily returns the families of backends: ipv4, ipv6 or dualstack.
func backendFamily(in Input) string {
	value := strings.ToLower(backendFamilyKey.Get(in.Values))
	if !in.Config.DualStack || ipVersionKey.Get(in.Values) != netDualStack || value == "" {
		return ipv4
	}
	return value
}

// groupSettings returns the parameters of the server group of a port.
func (b *builder) groupSettings(p nodeports.ServicePort, isRange bool) map[string]string {
	out := map[string]string{}
	v := b.in.Values
	if isRange { // a range has no port of its own that could be checked
		out[paramHealth+"HealthCheckEnabled"] = "true"
		out[paramHealth+"HealthCheckConnectPort"] = strconv.Itoa(p.TargetPort.IntValue())
	}
	for _, s := range netGroupSettings() {
		value, _, given := s.read(v)
		isCheck := strings.HasPrefix(s.param, paramHealth) && s.param != paramHealth+"HealthCheckEnabled"
		if given && (!isCheck || healthFlagKey.Get(v) == on) {
			out[s.param] = value
		}
	}
	return out
}

// netServers returns the backends of a port. With addresses as servers each is its address alone, and
// those of a range have no port.
func (b *builder) netServers(p nodeports.ServicePort, isRange bool) []Server {
	servers := serversOf(b.in, b.facts, p)
	if backendFamily(b.in) == dualstack && usesPods(b.in) {
		servers = slices.Concat(podsOfFamily(b.in, b.facts, p, corev1.IPv4Protocol), podsOfFamily(b.in, b.facts, p, corev1.IPv6Protocol))
	}
	if groupTypeOf(b.in) == groupIP {
		servers = addressesOf(b.in, servers)
	}
	if isRange {
		for i := range servers {
			servers[i].Port = 0
		}
	}
	slices.SortFunc(servers, CompareServers)
	return slices.CompactFunc(servers, sameServer)
}

// addressesOf returns servers by their addresses: those of pods, and the first internal IPv4 address of
// nodes. A node without one is left out. With externalTrafficPolicy Local all nodes have one weight, whatever their pods.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2/server_groups.go (podNumberAlgorithm).
func addressesOf(in Input, servers []Server) []Server {
	addresses := map[string]string{}
	for n := range in.Backends.Nodes.All() {
		for _, a := range n.Internal {
			if id := InstanceOf(n.ProviderID); a.Is4() && addresses[id] == "" {
				addresses[id] = a.String()
			}
		}
	}
	var out []Server
	for _, s := range servers {
		if s.Type == ServerECS {
			s.Address = addresses[s.ID]
			if nodeports.LocalOnly(in.Service) {
				s.Weight = 1
			}
		}
		s.ID, s.Type = s.Address, ServerIP
		if s.Address != "" {
			out = append(out, s)
		}
	}
	return out
}

// netListener adds the listener of a port. Parameters that it takes are entered into used.
func (b *builder) netListener(p nodeports.ServicePort, group stack.Key, used map[string]bool) {
	protocol := protocolOf(b.in, p)
	want := NetListener{Protocol: protocol, Port: p.Port, Group: stack.RefTo(group), Running: true, Settings: map[string]string{}}
	if r, ok := rangesKey.Get(b.in.Values)[p.Port]; ok {
		want.Port, want.End = r.First, r.Last
	}
	want.Description = NetName(portsText(want.Port, want.End), protocol, b.in.Owner, b.in.Config.ClusterID)
	key := NetListenerKey(protocol, want.Port, want.End)
	existing, _ := stack.SpecOf[NetListener](b.have, key)
	for _, s := range netListenerSettings() {
		value, _, given := s.read(b.in.Values)
		needs := s.param != "AlpnPolicy" || alpnKey.Get(b.in.Values) == on
		if strings.HasPrefix(s.param, paramProxy) {
			needs = proxyKey.Get(b.in.Values)
		}
		if given && slices.Contains(s.of, protocol) {
			used[s.param] = true
			if needs {
				want.Settings[s.param] = value
			}
		}
	}
	if protocol == netTCPSSL {
		b.certificates(&want, existing, p)
		used[moreCertsKey.Name] = true
	}
	b.reportNetTaken(p, key)
	b.out.Put(stack.Resource{Key: key, In: netBalancerKey(), Slot: NetSlotOf(protocol, want.Port, want.End), Spec: want})
}

// certificates adds the additional certificates of a listener, and refuses one without a certificate.
func (b *builder) certificates(want *NetListener, existing NetListener, p nodeports.ServicePort) {
	v := b.in.Values
	if want.More = existing.More; existing.Protocol != netTCPSSL {
		want.More = nil
	}
	if text, _, given := moreCertsKey.Lookup(v); given {
		want.More = SplitIDs(text)
	}
	if want.Settings[paramCertificates] == "" && (existing.Protocol != netTCPSSL || existing.Settings[paramCertificates] == "") {
		b.problems = append(b.problems, protocolKey.Refusal(v, fmt.Sprintf("asks for tcpssl at the port %d, which needs a certificate", p.Port), certificateKey.Name))
	}
}

// reportNetTaken names the listener of others that has the port.
func (b *builder) reportNetTaken(p nodeports.ServicePort, key stack.Key) {
	for r, l := range stack.Each[NetListener](b.have, KindNetListener) {
		if r.Proof == stack.None && NetListenerKey(l.Protocol, l.Port, l.End) == key {
			_, lb, _ := b.foundNet()
			b.warnTaken(p, l.Protocol, l.Description, lb.ID)
		}
	}
}
