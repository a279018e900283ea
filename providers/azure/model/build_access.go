package model

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// sourceInternet is the service tag for all addresses outside of the network.
const sourceInternet = "Internet"

// whoMay holds the permitted clients: one decision for all rules.
type whoMay struct {
	tags   []string
	ranges []netip.Prefix // merged
	open   bool           // the Internet as well
	deny   bool           // denies all other clients, the virtual network included
}

// permittedClients computes the permitted clients. Ranges that cover a whole family stand for the
// Internet, in that family alone. An internal Service without ranges has no rule, since the
// network's own default admits the network. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/loadbalancer/accesscontrol.go.
func permittedClients(kind string, tags []string, spec, allowed []netip.Prefix, denyAll bool) whoMay {
	all := slices.Concat(spec, allowed)
	w := whoMay{tags: tags, ranges: traffic.Union(all), deny: denyAll && len(all) > 0}
	w.open = kind == Public && len(tags) == 0 && len(all) == 0
	return w
}

// needsRule reports whether the Service has rules of the security group in a family.
func (w whoMay) needsRule(family corev1.IPFamily) bool { return w.deny || w.admitsByRule(family) }

// admitsByRule reports whether a rule of the security group lets in clients of a family.
// Without one, the default rules of Azure let in the virtual network alone.
func (w whoMay) admitsByRule(family corev1.IPFamily) bool {
	return w.open || len(w.tags) > 0 || len(nodeports.OfFamily(w.ranges, family)) > 0
}

// access wants the entries of the security group.
func (b *builder) access() {
	b.refuseForeign()
	if noAccessKey.Get(b.in.Values) {
		return
	}
	if !b.facts.Security && !b.facts.SecurityUnread {
		b.fail("securityGroupName", b.in.Config.Security, "of the cloud configuration names no network security group that exists", "the name of one")
		return
	}
	spec, allowed, ok := b.clientRanges()
	if !ok {
		return
	}
	tags := serviceTagsKey.Get(b.in.Values)
	who := permittedClients(b.in.Kind, tags, spec, allowed, denyAllKey.Get(b.in.Values))
	if len(tags) > 0 && len(spec) > 0 {
		b.report(serviceTagsKey.Warning(b.in.Values, "lets clients in that kube-proxy turns away, because spec.loadBalancerSourceRanges is set", ""))
	}
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		b.keepAccess(family)
		if b.awaitsAddress(family) && who.needsRule(family) {
			b.out.Incomplete = "its rules of the security group are created once Azure has assigned an address"
		}
		destinations := b.destinations(family)
		if len(destinations) == 0 {
			continue
		}
		if entries := (len(tags) + 1) * len(destinations); len(tags) > 0 && entries > mostPrefixes {
			b.report(serviceTagsKey.Refusal(b.in.Values, fmt.Sprintf("has %d tags, which with %d addresses take %d entries of the network security group, more than the %d that it can have",
				len(tags), len(destinations), entries, mostPrefixes), "fewer tags"))
			return
		}
		b.admit(who, string(family), destinations)
	}
}

// admit wants the rules of one family for the addresses of its frontends.
func (b *builder) admit(who whoMay, family string, destinations []string) {
	for rank, protocol := range []string{"Tcp", "Udp", "*"} {
		if ports := b.openPorts(protocol); len(ports) > 0 {
			b.allow(who, family, protocol, ports, destinations, rank)
		}
	}
	b.bridge(who, family, destinations)
	if who.deny {
		b.enter(Access{Rule: denyName(family), Deny: true, Family: family, Protocol: "*", Rank: denyRank}, destinations)
	}
}

// Ranks keep the order in which new rules get priorities: by protocol, then
// family, tags before ranges, deny rules at the end. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/loadbalancer/accesscontrol.go.
const (
	rankProtocol = 10000
	rankFamily   = 1000
	rankBridge   = 9999 // the last one of its protocol
	denyRank     = 100000
)

func (b *builder) allow(who whoMay, family, protocol string, ports, destinations []string, rank int) {
	rank *= rankProtocol
	if family == IPv6 {
		rank += rankFamily
	}
	one := func(sources ...string) {
		slices.Sort(sources)
		rank++
		b.enter(Access{
			Rule: allowName(family, protocol, sources, ports), Family: family, Protocol: protocol, Sources: sources, Ports: ports, Rank: rank,
		}, destinations)
	}
	for _, tag := range who.tags {
		one(tag)
	}
	var texts []string
	for _, p := range nodeports.OfFamily(who.ranges, corev1.IPFamily(family)) {
		texts = append(texts, p.String())
	}
	if len(texts) > 0 {
		one(texts...)
	}
	if who.open {
		one(sourceInternet)
	}
}

// enter wants one rule for each destination.
func (b *builder) enter(a Access, destinations []string) {
	a.Group, a.Security = b.in.Config.securityGroup(), b.in.Config.Security
	served := len(b.foundEntries().Rules) > 0
	for _, d := range destinations {
		a.Destination, a.Alone = d, b.isAlone(d)
		a.AfterRule = !served || !a.Alone && !noFloatingKey.Get(b.in.Values)
		b.out.Put(stack.Resource{Key: accessKey(a.Rule, d), In: securityKey(a.Group, a.Security), Ownership: stack.Shared, Spec: a})
	}
}

// isAlone reports whether only this Service has the address, as far as observed.
func (b *builder) isAlone(address string) bool {
	for _, lb := range b.facts.Balancers {
		for _, f := range lb.Frontends {
			others := !ownedBy(b.base, f.Name) || slices.ContainsFunc(f.Users, func(u string) bool { return !ownedBy(b.base, u) })
			if f.Address == address && others {
				return false
			}
		}
	}
	return slices.ContainsFunc(b.families, func(f corev1.IPFamily) bool { return b.addresses[f] == address })
}

// clientRanges returns the ranges of the field or the ranges of the annotations. Both at once are
// refused, see checkRanges.
func (b *builder) clientRanges() (spec, allowed []netip.Prefix, ok bool) {
	const field = "spec.loadBalancerSourceRanges"
	for _, text := range b.in.Service.Spec.LoadBalancerSourceRanges {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil || p != p.Masked() {
			b.fail(field, text, "is no range without host bits", "CIDRs such as 10.0.0.0/8")
			return nil, nil, false
		}
		spec = append(spec, p)
	}
	allowed = slices.Concat(allowedRangesKey.Get(b.in.Values), rangesKey.Get(b.in.Values))
	return spec, allowed, len(spec) == 0 || len(allowed) == 0
}

// openPorts are the ports that clients use, as texts in the order of texts: those
// of the Service, or its node ports while floating IP is off. Ports without a rule
// are open as well.
func (b *builder) openPorts(protocol string) []string {
	var out []string
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			break
		}
		wire := wireProtocol(p.Protocol)
		if wire == protocolAll {
			wire = "*"
		}
		port := p.Port
		if noFloatingKey.Get(b.in.Values) {
			port = p.NodePort
		}
		if wire == protocol && port != 0 {
			out = append(out, string(jsonNumber(port)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// destinations are the addresses that clients send to. While one is not known yet,
// those of the frontends before stay open.
func (b *builder) destinations(family corev1.IPFamily) []string {
	var out []string
	for _, a := range additionalKey.Get(b.in.Values) {
		if nodeports.FamilyOf(a) == family && !noFloatingKey.Get(b.in.Values) {
			out = append(out, a.Unmap().String())
		}
	}
	switch {
	case noFloatingKey.Get(b.in.Values):
		out = b.nodeAddresses(family)
	case !slices.Contains(b.families, family):
	case b.addressOf(family) != "":
		out = append(out, b.addressOf(family))
	case b.foresees:
		out = append(out, unknownAddress(family))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// awaitsAddress reports whether Azure has yet to assign the address of a family, so that its
// rules cannot be planned.
func (b *builder) awaitsAddress(family corev1.IPFamily) bool {
	return !noFloatingKey.Get(b.in.Values) && !b.foresees && slices.Contains(b.families, family) && b.addressOf(family) == ""
}

// keepAccess keeps the rules for the previous address while the new one is unknown. The next
// plan deletes them.
func (b *builder) keepAccess(family corev1.IPFamily) {
	if !b.awaitsAddress(family) {
		return
	}
	before := b.addressesBefore(family)
	for r, entry := range stack.Each[Access](b.have, KindAccess) {
		if entry.Family == string(family) && r.Proof != stack.None && slices.Contains(before, entry.Destination) {
			b.out.Put(stack.Resource{Key: r.Key, In: r.In, Ownership: stack.Shared, Spec: entry})
		}
	}
}

// awaitsMove reports whether a frontend that serves is to get an address that Azure has yet to
// assign. Its rules cannot be planned, and without them no client reaches the new address.
func (b *builder) awaitsMove() bool {
	had := b.foundEntries()
	return b.out.Incomplete != "" && len(had.Rules) > 0 && slices.ContainsFunc(had.Frontends, func(f Frontend) bool {
		return b.awaitsAddress(corev1.IPFamily(f.Version)) && f.Address != ""
	})
}

// keepAddresses returns what serves today, with the public IPs that the Service is to move to. The next
// plan knows their addresses.
func (b *builder) keepAddresses() *stack.Stack {
	out := keepServing(b.in, b.facts, b.have)
	for _, kind := range []stack.Kind{KindPublicIP, KindBinding} {
		for _, r := range b.out.Of(kind) {
			out.Put(r)
		}
	}
	out.Incomplete = b.out.Incomplete
	out.Sort()
	return out
}

// addressOf is the address of a family: as chosen, else as it was given to the
// frontend of that name.
func (b *builder) addressOf(family corev1.IPFamily) string {
	if a := b.addresses[family]; a != "" {
		return a
	}
	for _, want := range b.entries.Frontends {
		for _, had := range b.foundEntries().Frontends {
			if want.Version == string(family) && sameFrontend(want, had) {
				return had.Address
			}
		}
	}
	return ""
}

func (b *builder) addressesBefore(family corev1.IPFamily) []string {
	var out []string
	for r, e := range stack.Each[Entries](b.have, KindEntries) {
		for _, f := range e.Frontends {
			if f.Version == string(family) && f.Address != "" && r.Proof != stack.None {
				out = append(out, f.Address)
			}
		}
	}
	return out
}
