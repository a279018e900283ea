package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// reserve wants an address of our own while rules that have an IP are created or
// replaced: Google reclaims the IP as soon as nothing uses it. Rules that get one IP
// together need it as well. A live load balancer has no address: the IP stays with its
// rules. Source: kubernetes/cloud-provider-gcp:providers/gce/gce_address_manager.go.
func (b *builder) reserve(version string, choice ipChoice) {
	var making []stack.Resource
	rules := 0
	for _, r := range b.out.Of(RuleKind(b.scheme)) {
		rule, _ := r.Spec.(Rule)
		if rule.IPVersion != version {
			continue
		}
		rules++
		if b.made(r) {
			making = append(making, r)
		}
	}
	kept := choice.ip != "" && b.liveIP(version) == choice.ip
	if len(making) == 0 || choice.user || !kept && rules < 2 {
		b.holdOld(making, choice)
		return
	}
	ip := choice.ip
	if choice.wish {
		ip = ""
	}
	key := b.holdKey(version, ip, making[0])
	b.out.Put(stack.Resource{Key: key, Spec: b.address(key, version, ip)})
	for _, r := range making {
		rule, _ := r.Spec.(Rule)
		rule.IP, rule.Wish, rule.Address = ip, false, stack.RefTo(key)
		r.Spec = rule
		b.out.Put(r)
	}
}

// holdOld wants an address of our own for the IP that a rule leaves, until the new rule
// exists: if that is refused, the old one can come back with its IP.
func (b *builder) holdOld(making []stack.Resource, choice ipChoice) {
	for _, r := range making {
		b.keepHeld(r, choice)
		if old, ok := b.oldRule(r); ok && old.IP != choice.ip {
			b.hold(r.Key.Name, old)
		}
	}
}

// holdLeaving wants addresses for the IPs of rules that the new ones do not get and that must be
// deleted before: a backend service changes its protocol, or is replaced under its name, while no
// rule refers to it.
func (b *builder) holdLeaving() {
	for _, r := range slices.Concat(b.have.Of(KindExternalRule), b.have.Of(KindInternalRule)) {
		rule, _ := r.Spec.(Rule)
		found, _ := b.have.Get(rule.Backend.To)
		next, wanted := b.out.Get(rule.Backend.To)
		old, _ := found.Spec.(Backend)
		spec, _ := next.Spec.(Backend)
		_, stays := b.out.Get(r.Key)
		if r.Proof != stack.None && !stays && wanted && (old.Protocol != spec.Protocol || old.Scheme != spec.Scheme) && b.ips[rule.IPVersion].ip != rule.IP {
			b.hold(r.Key.Name, rule)
		}
	}
}

// hold wants an address of our own for the IP of a live rule, unless a user has reserved it.
func (b *builder) hold(name string, old Rule) {
	_, reserved := b.facts.reserved(func(r Reserved) bool { return sameIPs(r.IP, old.IP) && !b.ownAddress(r.Name) })
	if old.IP == "" || reserved {
		return
	}
	key := stack.Key{Kind: KindAddress, Name: name}
	for a, spec := range stack.Each[Address](b.have, KindAddress) {
		if a.Proof != stack.None && spec.IP == old.IP {
			key = a.Key
		}
	}
	held := Address{
		Name: b.names.rule(key.Name), Description: legacyDescription(ServiceName(b.in.Owner)),
		Type: old.Scheme, IPVersion: old.IPVersion, IP: old.IP, Tier: old.Tier, IPCollection: old.IPCollection,
	}
	if old.Scheme == SchemeInternal {
		held.Tier, held.Subnet = "", old.Subnet
	}
	b.out.Put(stack.Resource{Key: key, Spec: held})
}

// oldRule returns the live rule whose name the new one has, of either scheme.
func (b *builder) oldRule(r stack.Resource) (Rule, bool) {
	for _, kind := range []stack.Kind{KindExternalRule, KindInternalRule} {
		if found, ok := b.found(stack.Key{Kind: kind, Name: r.Key.Name}); ok {
			rule, isRule := found.Spec.(Rule)
			return rule, isRule
		}
	}
	return Rule{}, false
}

// keepHeld wants an address of our own that holds another IP as long as the rule does not
// exist, as after a restart between the deletion of the old rule and the creation of the new one.
func (b *builder) keepHeld(r stack.Resource, choice ipChoice) {
	rule, _ := r.Spec.(Rule)
	for a, spec := range stack.Each[Address](b.have, KindAddress) {
		if a.Proof != stack.None && spec.IPVersion == rule.IPVersion && spec.IP != choice.ip {
			b.put(a.Key, spec)
		}
	}
}

// made reports whether the next plan creates the rule: because it does not exist, or
// because it or what it sends to cannot be changed in place.
func (b *builder) made(r stack.Resource) bool {
	found, ok := b.have.Get(r.Key)
	if !ok || diff.Replaces(b.rules(), r, found) {
		return true
	}
	rule, _ := r.Spec.(Rule)
	for _, ref := range []stack.Ref{rule.Target, rule.Backend} {
		want, wanted := b.out.Get(ref.To)
		old, exists := b.have.Get(ref.To)
		if wanted && exists && diff.Replaces(b.rules(), want, old) {
			return true
		}
	}
	return false
}

// holdKey is the name under which an address holds the IP: that of one that does
// already, else that of the rule. External IPv4 addresses are always called
// a<uid>, whatever their rules are.
func (b *builder) holdKey(version, ip string, rule stack.Resource) stack.Key {
	for r, a := range stack.Each[Address](b.have, KindAddress) {
		if r.Proof != stack.None && a.Type == b.scheme && a.IPVersion == version && (ip == "" || a.IP == ip) {
			return r.Key
		}
	}
	name := rule.Key.Name
	if b.scheme == SchemeExternal && version == VersionIPv4 {
		name = ruleIPv4
	}
	return stack.Key{Kind: KindAddress, Name: name}
}

func (b *builder) address(key stack.Key, version, ip string) Address {
	a := Address{
		Name: b.names.rule(key.Name), Description: legacyDescription(ServiceName(b.in.Owner)),
		Type: b.scheme, IPVersion: version, IP: ip, IPCollection: b.collection(version),
	}
	switch {
	case b.scheme == SchemeInternal:
		a.Subnet = b.subnet
	case version == VersionIPv6:
		a.Tier = TierPremium
		if ip == "" && a.IPCollection == "" {
			a.Subnet = b.subnetIPv6
		}
	default:
		a.Tier = b.tier
	}
	return a
}
