package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports adds the listeners of each port, with their rules and targets.
func (b *builder) ports() {
	used := map[string]bool{}
	given := protocolKey.Get(b.in.Values)
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		if p.NodePort == 0 && !directKey.Get(b.in.Values) {
			continue // reported by check
		}
		spec, specified := given[p.Port]
		if !specified {
			spec.Protocols = []string{string(p.Protocol)}
		}
		for _, protocol := range spec.Protocols {
			b.listener(p, protocol, spec, used)
		}
	}
	b.reportUnused(used)
	if !b.existing {
		b.reportTaken(b.have)
	}
}

// listener adds the listener of a port. Settings that it takes are entered into used.
func (b *builder) listener(p nodeports.ServicePort, protocol string, spec PortSpec, used map[string]bool) {
	key := ListenerKey(protocol, p.Port)
	if _, done := b.out.Get(key); done {
		return // two ports of the Service, TCP and UDP, of which one names both protocols
	}
	found, live := b.foundAt(key, SlotOf(protocol, p.Port))
	existing, _ := found.Spec.(Listener)
	want := Listener{Protocol: protocol, Port: p.Port, Name: ListenerName, Claimed: b.existing, Batch: b.in.Owner.UID}
	if !HasRules(protocol) {
		var has map[string]string
		if live && (found.Proof != stack.None || b.existing) && existing.Protocol == protocol {
			has = existing.Settings
		}
		want.Settings = b.settings(protocol, has, used)
		if !b.configured(protocol, p.Port, want.Settings, has) {
			if !live {
				return // reported; the other listeners are served
			}
			want.Settings = map[string]string{}
		}
	}
	certificate, ok := b.listenerCertificate(protocol, spec)
	if !ok && !live {
		return // reported; the other listeners are served
	}
	want.Certificate = certificate
	want.SNI = protocol == https && spec.TLS == ""
	if !HasRules(protocol) {
		want.Members = b.members(p, protocol, existing.Members)
	}
	b.out.Put(stack.Resource{Key: key, In: b.lb, Slot: SlotOf(protocol, p.Port), Spec: want})
	if !HasRules(protocol) {
		return
	}
	for _, domain := range slices.Sorted(maps.Keys(spec.Hosts)) {
		b.rule(p, key, found.Key, protocol, domain, spec.Hosts[domain], used)
	}
}

// listenerCertificate returns the certificate of a listener, none where the protocol has none.
// False: it names one that cannot be read.
func (b *builder) listenerCertificate(protocol string, spec PortSpec) (string, bool) {
	if spec.TLS == "" || !transportsTLS(protocol) {
		return "", true
	}
	return b.certificate(spec.TLS)
}

func transportsTLS(protocol string) bool {
	return protocol == tcpSSL || protocol == quic || protocol == https
}

// foundAt returns the found listener at a place of the load balancer.
func (b *builder) foundAt(key stack.Key, slot string) (stack.Resource, bool) {
	if r, ok := b.have.Get(key); ok {
		return r, true
	}
	for _, r := range b.have.Of(KindListener) {
		if r.In == b.lb && r.Slot == slot {
			return r, true
		}
	}
	return stack.Resource{Key: key}, false
}

// rule adds the rule of a domain, with its targets.
func (b *builder) rule(p nodeports.ServicePort, listener, found stack.Key, protocol, domain string, host HostSpec, used map[string]bool) {
	key, foundKey := RuleKey(listener, domain, "/"), RuleKey(found, domain, "/")
	existing, live := stack.SpecOf[Rule](b.have, foundKey)
	want := Rule{Domain: domain, URL: "/", Settings: b.settings(protocol, existing.Settings, used), Members: b.members(p, protocol, existing.Members), Balancer: b.lb, Batch: b.in.Owner.UID}
	if host.TLS != "" && protocol == https {
		certificate, ok := b.certificate(host.TLS)
		if !ok && !live {
			return // reported; the other rules are served
		}
		want.Certificate = certificate
	}
	b.out.Put(stack.Resource{Key: key, In: listener, Slot: domain, Spec: want})
}

// certificate returns the id of a certificate that a Secret names; false: that is reported.
func (b *builder) certificate(secret string) (string, bool) {
	ref := secretRef(b.in, secret)
	object := b.in.Objects[ref]
	id := strings.TrimSpace(string(object.Data[certificateID]))
	switch {
	case object.Data == nil:
		b.problems = append(b.problems, protocolKey.Warning(b.in.Values, "names the "+ref.String()+", which "+object.Why, "a Secret with the key "+certificateID))
	case id == "":
		b.problems = append(b.problems, protocolKey.Warning(b.in.Values, "names the "+ref.String()+", which has no "+certificateID, "a Secret with the key "+certificateID))
	default:
		return id, true
	}
	return "", false
}

// settings returns the settings of a listener or rule. They must fit its other settings.
func (b *builder) settings(protocol string, found map[string]string, used map[string]bool) map[string]string {
	out := map[string]string{}
	for name, value := range parametersKey.Get(b.in.Values) {
		if settingTable()[name].isOf(protocol) {
			out[name] = value
			used[parametersKey.Name+" "+name] = true
		}
	}
	if loopbackKey.Get(b.in.Values) && transportOf(protocol) == tcp {
		out[healthPrefix+"SourceIpType"] = "1"
		used[loopbackKey.Name] = true
	}
	all := maps.Clone(found)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, out)
	if err := checkTogether(protocol, all); err != nil && len(out) > 0 {
		b.problems = append(b.problems, parametersKey.Refusal(b.in.Values, fmt.Sprintf("%v", err), "settings that fit together"))
	}
	return out
}

// reportUnused reports settings that no listener of the Service takes.
func (b *builder) reportUnused(used map[string]bool) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(parametersKey.Get(b.in.Values))) {
		if !used[parametersKey.Name+" "+name] {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		b.problems = append(b.problems, parametersKey.Warning(b.in.Values, "has "+strings.Join(names, ", ")+", which no listener of the Service takes", protocolKey.Name+" with a protocol that takes it"))
	}
	if loopbackKey.Get(b.in.Values) && !used[loopbackKey.Name] {
		b.problems = append(b.problems, loopbackKey.Warning(b.in.Values, "has no effect: no listener of the Service is over TCP", "a port of TCP"))
	}
}
