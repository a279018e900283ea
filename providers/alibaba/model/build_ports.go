package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports adds a server group for each backend port, and a listener for each port.
func (b *builder) ports() {
	used := map[string]bool{}
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		protocol := protocolOf(b.in, p)
		port := backendPort(b.in, p)
		if port == "" {
			continue
		}
		key, ok := b.group(p, port)
		if !ok || !b.manages() {
			continue
		}
		want := Listener{Protocol: protocol, Forward: b.forwardOf(p.Port, protocol)}
		if want.Forward.IsZero() { // the official controller creates a server group beside a redirect as well
			want.Group = stack.RefTo(key)
		}
		b.listener(p, want, used)
	}
	if !b.manages() {
		b.keepListeners()
		return
	}
	b.reportUnused(used)
}

// listener adds the listener of a port. Parameters that it takes are entered into used.
func (b *builder) listener(p nodeports.ServicePort, want Listener, used map[string]bool) {
	key := ListenerKey(want.Protocol, p.Port)
	want.Port, want.Description, want.Running = p.Port, ListenerDescription(p.Port, b.in.Owner, b.in.Config.ClusterID), true
	want.Settings = map[string]string{}
	existing, live := stack.SpecOf[Listener](b.have, key)
	same := live && existing.Protocol == want.Protocol && existing.Forward.IsZero() == want.Forward.IsZero()
	if !same && want.Forward.IsZero() {
		want.Settings = standardSettings(want.Protocol)
	}
	if !same {
		existing = Listener{}
	}
	for _, s := range listenerSettings() {
		if value, _, given := s.read(b.in.Values); given && slices.Contains(s.of, want.Protocol) {
			used[s.param] = true
			if want.Forward.IsZero() {
				want.Settings[s.param] = value
			}
		}
	}
	b.checkListener(p, want)
	if want.Forward.IsZero() {
		b.access(&want, existing)
	}
	b.reportTaken(p, key)
	b.out.Put(stack.Resource{Key: key, In: balancerKey(), Slot: SlotOf(want.Protocol, p.Port), Spec: want})
	b.domains(key, want.Protocol, p.Port, used)
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
	existing, _ := stack.SpecOf[Listener](b.have, ListenerKey(l.Protocol, p.Port))
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
	for r, l := range stack.Each[Listener](b.have, KindListener) {
		if r.Proof == stack.None && ListenerKey(l.Protocol, l.Port) == key {
			_, lb, _ := b.found()
			b.warnTaken(p, l.Protocol, l.Description, lb.ID)
		}
	}
}

func (b *builder) warnTaken(p nodeports.ServicePort, protocol, description, lb string) {
	owner := "which is not the Service's and is left alone"
	if _, o, known := ParseName(description, b.in.Config.ClusterID); known {
		owner = "which is of Service " + o.String() + " and is left alone"
	}
	b.problems.Warn("spec.ports", p.String(), fmt.Sprintf("is taken by the %s listener %q of the load balancer %s, %s", protocol, description, lb, owner),
		"a port without a listener")
}

// reportUnused reports parameters that no listener of the Service takes.
func (b *builder) reportUnused(used map[string]bool) {
	b.reportUnusedOf(listenerSettings(), used)
	if _, _, given := domainsKey.Lookup(b.in.Values); given && !used[domainsKey.Name] {
		b.problems = append(b.problems, domainsKey.Warning(b.in.Values, "has no effect: no listener of the Service is one of HTTPS", protocolKey.Name+" with https"))
	}
}

func (b *builder) reportUnusedOf(settings []setting, used map[string]bool) {
	for _, s := range settings {
		if _, origin, given := s.read(b.in.Values); given && !used[s.param] {
			b.problems.Warn(origin.Key, origin.Raw, "has no effect: no listener of the Service has one of the protocols "+strings.Join(s.of, ", "), protocolKey.Name+" with one of them")
		}
	}
}
