package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports adds a server group for each node port, and a listener for each port.
func (b *builder) ports() {
	used := map[string]bool{}
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		if p.NodePort == 0 {
			continue // reported by check
		}
		port := strconv.Itoa(int(p.NodePort))
		key := GroupKey(port)
		if _, done := b.out.Get(key); !done {
			found, _ := b.have.Get(key)
			existing, _ := found.Spec.(VServerGroup)
			b.out.Put(stack.Resource{Key: key, In: balancerKey(), Spec: VServerGroup{
				Name: GroupName(port, b.in.Owner, b.in.Config.ClusterID), Servers: b.keepWeights(serversOf(b.in, p), existing.Servers), Shared: existing.Shared,
			}})
		}
		b.listener(p, key, used)
	}
	b.reportUnused(used)
}

// listener adds the listener of a port. Parameters that it takes are entered into used.
func (b *builder) listener(p nodeports.ServicePort, group stack.Key, used map[string]bool) {
	protocol := protocolOf(b.in, p)
	key := ListenerKey(protocol, p.Port)
	want := Listener{
		Protocol: protocol, Port: p.Port, Description: ListenerDescription(p.Port, b.in.Owner, b.in.Config.ClusterID), Group: stack.RefTo(group), Running: true,
		Settings: map[string]string{},
	}
	found, _ := b.have.Get(key)
	if existing, live := found.Spec.(Listener); !live || existing.Protocol != protocol {
		want.Settings = standardSettings(protocol)
	}
	for _, s := range listenerSettings() {
		if value, _, given := s.read(b.in.Values); given && slices.Contains(s.of, protocol) {
			want.Settings[s.param] = value
			used[s.param] = true
		}
	}
	b.checkListener(p, want)
	b.reportTaken(p, key)
	b.out.Put(stack.Resource{Key: key, In: balancerKey(), Slot: SlotOf(protocol, p.Port), Spec: want})
}

// standardSettings returns what new listeners of a protocol have without an annotation.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/slb/listener.go.
func standardSettings(protocol string) map[string]string {
	out := map[string]string{"Scheduler": "rr"}
	if protocol != http {
		out["Bandwidth"] = "-1"
	}
	if slices.Contains(layer7(), protocol) {
		out["HealthCheck"], out["StickySession"] = off, off
	}
	return out
}

// checkListener refuses combinations that the cloud refuses.
func (b *builder) checkListener(p nodeports.ServicePort, l Listener) {
	v := b.in.Values
	found, _ := b.have.Get(ListenerKey(l.Protocol, p.Port))
	existing, _ := found.Spec.(Listener)
	has := func(param string) bool { return l.Settings[param] != "" || existing.Settings[param] != "" }
	switch {
	case l.Protocol == https && !has("ServerCertificateId"):
		b.problems = append(b.problems, protocolKey.Refusal(v, fmt.Sprintf("asks for https at the port %d, which needs a certificate", p.Port), certificateKey.Name))
	case !canSchedule(l.Protocol, l.Settings["Scheduler"]):
		b.problems = append(b.problems, schedulerKey.Refusal(v, "is not possible for "+l.Protocol, "rr, wrr, wlc or sch"))
	case l.Settings["StickySession"] == on:
		b.checkSticky(l, has)
	}
}

// canSchedule reports whether listeners of a protocol accept a scheduler.
func canSchedule(protocol, scheduler string) bool {
	switch scheduler {
	case "tch":
		return protocol == tcp || protocol == udp
	case "qch":
		return protocol == udp
	}
	return true
}

// checkSticky refuses sticky sessions without the settings that they need.
func (b *builder) checkSticky(l Listener, has func(param string) bool) {
	v := b.in.Values
	switch {
	case !has("StickySessionType"):
		b.problems = append(b.problems, stickyKey.Refusal(v, "needs "+stickyTypeKey.Name, "sticky-session-type insert or server"))
	case l.Settings["StickySessionType"] == "insert" && !has("CookieTimeout"):
		b.problems = append(b.problems, stickyTypeKey.Refusal(v, "needs "+cookieTimeoutKey.Name, "a lifetime of the cookie"))
	case l.Settings["StickySessionType"] == "server" && !has("Cookie"):
		b.problems = append(b.problems, stickyTypeKey.Refusal(v, "needs "+cookieKey.Name, "the name of a cookie"))
	}
}

// reportTaken names the listener of others that has the port.
func (b *builder) reportTaken(p nodeports.ServicePort, key stack.Key) {
	for _, r := range b.have.Of(KindListener) {
		if l, _ := r.Spec.(Listener); r.Proof == stack.None && ListenerKey(l.Protocol, l.Port) == key {
			_, lb, _ := b.found()
			b.problems.Warn("spec.ports", p.String(), fmt.Sprintf("is taken by the %s listener %q of the load balancer %s, which is not the Service's and is left alone", l.Protocol, l.Description, lb.ID),
				"a port without a listener")
		}
	}
}

// reportUnused reports parameters that no listener of the Service takes.
func (b *builder) reportUnused(used map[string]bool) {
	for _, s := range listenerSettings() {
		if _, origin, given := s.read(b.in.Values); given && !used[s.param] {
			b.problems.Warn(origin.Key, origin.Raw, "has no effect: no listener of the Service has one of the protocols "+strings.Join(s.of, ", "), protocolKey.Name+" with one of them")
		}
	}
}

// serversOf returns the backends of a port: all nodes, or with externalTrafficPolicy Local those
// with endpoints, with the number of them as weight.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/vgroups.go.
func serversOf(in Input, p nodeports.ServicePort) []Server {
	pods := map[string]int{}
	local := nodeports.LocalOnly(in.Service)
	if local {
		for _, e := range in.Backends.Endpoints.For(corev1.IPv4Protocol, p.Name) {
			pods[e.Node]++
		}
	}
	weight := weightOf(in)
	var out []Server
	for n := range in.Backends.Nodes.All() {
		s := Server{ID: InstanceOf(n.ProviderID), Type: ServerECS, Port: p.NodePort, Weight: weight}
		if local {
			s.Weight = min(pods[n.Name], mostWeight)
		}
		if s.Weight > 0 || !local {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, CompareServers)
	return slices.CompactFunc(out, sameServer)
}

// mostWeight is the greatest weight of a server. Source: API of SLB, AddVServerGroupBackendServers.
const mostWeight = 100

// weightOf returns the weight of nodes.
func weightOf(in Input) int {
	if value, _, given := weightKey.Lookup(in.Values); given {
		return value
	}
	return mostWeight
}

// keepWeights returns servers with the weights that the found ones have, where the Service says
// that weights are not its own.
func (b *builder) keepWeights(servers, found []Server) []Server {
	if !ignoreWeightKey.Get(b.in.Values) {
		return servers
	}
	for i := range servers {
		if at := slices.IndexFunc(found, func(s Server) bool { return sameServer(s, servers[i]) }); at >= 0 {
			servers[i].Weight = found[at].Weight
		}
	}
	return servers
}

// sameServer reports whether two servers are one, whatever their weights.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/vgroups.go.
func sameServer(a, b Server) bool {
	a.Weight, b.Weight = 0, 0
	return a == b
}

// CompareServers orders servers by id, address, port and weight.
func CompareServers(a, b Server) int {
	return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Weight, b.Weight))
}

// SplitServers compares the servers of a group with the desired ones, and returns those to add,
// to remove and to give another weight.
func SplitServers(want, have []Server) (add, remove, weigh []Server) {
	for _, w := range want {
		at := slices.IndexFunc(have, func(s Server) bool { return sameServer(s, w) })
		switch {
		case at < 0:
			add = append(add, w)
		case have[at].Weight != w.Weight:
			weigh = append(weigh, w)
		}
	}
	for _, h := range have {
		if !slices.ContainsFunc(want, func(s Server) bool { return sameServer(s, h) }) {
			remove = append(remove, h)
		}
	}
	return add, remove, weigh
}
