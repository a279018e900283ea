package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/utils/net"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// canonicalIP writes an IP, or the first one of a range, as netip does; empty if
// the text is none.
func canonicalIP(text string) string {
	text, _, _ = strings.Cut(text, "/")
	addr, ok := netip.AddrFromSlice(utilnet.ParseIPSloppy(text))
	if !ok {
		return ""
	}
	return addr.Unmap().String()
}

func isIPv6(ip string) bool { return strings.Contains(ip, ":") }

// VersionOf is the IP version of an address, in the words of Compute Engine.
func VersionOf(ip string) string {
	if isIPv6(ip) {
		return VersionIPv6
	}
	return VersionIPv4
}

// ipFamily is an IP version in the words of Kubernetes.
func ipFamily(version string) corev1.IPFamily {
	if version == VersionIPv6 {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// ExternalRange is how an IPv6 address of an external rule is written: such a rule
// has 2^32 of them. Source: kubernetes/ingress-gce:pkg/l4/address/hold.go.
const ExternalRange = "/96"

// rangeContains reports whether a range contains an address; an invalid text matches
// none.
func rangeContains(ip, cidr string) bool {
	addr, err := netip.ParseAddr(ip)
	prefix, err2 := netip.ParsePrefix(cidr)
	return err == nil && err2 == nil && prefix.Contains(addr)
}

// sameIPs compares IPs and ranges by their first address: servers answer IPv6
// ranges with and without their length.
func sameIPs(a, b string) bool {
	x, y := canonicalIP(a), canonicalIP(b)
	return a == b || x != "" && x == y
}

// subnet finds a subnet of the region by path or name.
func (f *Facts) subnet(path string) (Subnet, bool) {
	for _, s := range f.Subnets {
		if s.Path == path || s.Name == path {
			return s, true
		}
	}
	return Subnet{}, false
}

// reserved finds a reserved address, by name or by IP.
func (f *Facts) reserved(match func(Reserved) bool) (Reserved, bool) {
	if i := slices.IndexFunc(f.Addresses, match); i >= 0 {
		return f.Addresses[i], true
	}
	return Reserved{}, false
}

// ipChoice is the IP that a load balancer is to have in one family.
type ipChoice struct {
	ip   string // empty: any
	user bool   // a reservation of the user's holds it: it needs none of ours
	wish bool   // any other will do
}

// chooseIP returns the IP of a family: the one that the user asks for, else the existing
// one, so that clients keep it: of a live rule, of an address of our own that holds it
// while the rule does not exist, of the status.
func (b *builder) chooseIP(version string) ipChoice {
	if c, ok := b.staticIP(version); ok {
		return c
	}
	if c, ok := b.askedIP(version); ok {
		return c
	}
	if ip := b.liveIP(version); ip != "" {
		_, user := b.facts.reserved(func(r Reserved) bool { return r.IP == ip && !b.ownAddress(r.Name) })
		return ipChoice{ip: ip, user: user}
	}
	return b.wishedIP(version)
}

// staticIP is the address that the annotation names for the family. A name that does not
// exist is ignored, as the official controller does.
// Source: kubernetes/ingress-gce:pkg/l4/annotations/l4_static_address.go.
func (b *builder) staticIP(version string) (ipChoice, bool) {
	if b.in.Kind != NetLB && b.in.Kind != InternalNEG {
		return ipChoice{}, false
	}
	for _, name := range staticNames(b.in) {
		r, ok := b.facts.reserved(func(r Reserved) bool { return r.Name == name })
		switch {
		case !ok:
			b.report(addressesKey.Warning(b.in.Values, "names "+name+", which is no reserved address of the region, so it is not used", "names of reserved addresses"))
		case r.IPVersion == version:
			if wrong := b.unfit(r); wrong != "" {
				b.report(addressesKey.Refusal(b.in.Values, "names "+name+", which "+wrong, ""))
			}
			if asked := b.in.Service.Spec.LoadBalancerIP; version == VersionIPv4 && asked != "" && !sameIPs(asked, r.IP) {
				b.report(annotations.ProblemOf("spec.loadBalancerIP", asked, "has no effect, because "+addressesKey.Name+" names "+name, "", annotations.Warning))
			}
			return ipChoice{ip: r.IP, user: true}, true
		}
	}
	return ipChoice{}, false
}

// unfit says why a reserved address cannot be the load balancer's; "" if it can.
func (b *builder) unfit(r Reserved) string {
	switch {
	case r.Type != b.scheme:
		return "is an " + strings.ToLower(r.Type) + " address, but the load balancer is " + strings.ToLower(b.scheme)
	case b.scheme == SchemeExternal && r.IPVersion == VersionIPv4 && r.Tier != "" && r.Tier != b.tier:
		return "is of the network tier " + r.Tier + ", but the load balancer is of " + b.tier
	case b.scheme == SchemeInternal && r.Subnet != "" && b.subnet != "" && r.Subnet != b.subnet:
		return "is of the subnet " + LastOf(r.Subnet) + ", but the load balancer is in " + LastOf(b.subnet)
	case !b.sameCollection(r.IPCollection, r.IPVersion):
		return "is not from " + b.collection(r.IPVersion) + ", which " + collectionKey.Name + " names"
	}
	return ""
}

// askedIP is the one of spec.loadBalancerIP: reserved by the user, or the live one
// already, or for internal load balancers any free one of the subnet.
func (b *builder) askedIP(version string) (ipChoice, bool) {
	text := b.in.Service.Spec.LoadBalancerIP
	if text == "" {
		return ipChoice{}, false
	}
	ip := canonicalIP(text)
	if ip == "" || isIPv6(ip) {
		if version == VersionIPv4 {
			b.report(annotations.ProblemOf("spec.loadBalancerIP", text, "is no IPv4 address", "an IPv4 address; reserved IPv6 addresses are named by "+addressesKey.Name, annotations.Error))
		}
		return ipChoice{}, false
	}
	if version != VersionIPv4 {
		return ipChoice{}, false
	}
	r, ok := b.facts.reserved(func(r Reserved) bool { return r.IP == ip })
	switch {
	case ok && !b.ownAddress(r.Name):
		if wrong := b.unfit(r); wrong != "" {
			b.report(annotations.ProblemOf("spec.loadBalancerIP", text, "is reserved as "+r.Name+", which "+wrong, "", annotations.Error))
		}
		return ipChoice{ip: ip, user: true}, true
	case ok, ip == b.liveIP(version):
		return ipChoice{ip: ip}, true
	case b.scheme == SchemeInternal:
		b.checkInSubnet(text, ip)
		return ipChoice{ip: ip}, true
	}
	b.report(annotations.ProblemOf("spec.loadBalancerIP", text, "is neither reserved in the region nor the address of this load balancer", "a reserved address of the project and region", annotations.Error))
	return ipChoice{}, true
}

func (b *builder) checkInSubnet(text, ip string) {
	s, known := b.facts.subnet(b.subnet)
	if known && s.CIDR != "" && !rangeContains(ip, s.CIDR) {
		b.report(annotations.ProblemOf("spec.loadBalancerIP", text, "is outside of the subnet "+s.Name, "an address of "+s.CIDR, annotations.Error))
	}
}

// liveIP is the IP that the Service has in the cloud, if the wanted load balancer
// can have it: of the same scheme, subnet and tier.
func (b *builder) liveIP(version string) string {
	for _, r := range b.have.Of(RuleKind(b.scheme)) {
		rule, _ := r.Spec.(Rule)
		fits := rule.IPVersion == version && b.sameSubnet(rule.Subnet, version) && b.sameTier(rule.Tier, version)
		if r.Proof != stack.None && fits && rule.IP != "" && b.sameCollection(rule.IPCollection, version) {
			return rule.IP
		}
	}
	for r, a := range stack.Each[Address](b.have, KindAddress) {
		fits := a.IPVersion == version && a.Type == b.scheme && b.sameSubnet(a.Subnet, version) && b.sameTier(a.Tier, version)
		if r.Proof != stack.None && fits && b.sameCollection(a.IPCollection, version) {
			return a.IP
		}
	}
	return ""
}

// sameSubnet: addresses are of a subnet, except for external IPv4 ones. An
// external IPv6 address does not tell it.
func (b *builder) sameSubnet(found, version string) bool {
	if b.scheme == SchemeExternal && version == VersionIPv4 {
		return true
	}
	wanted := b.subnet
	if b.scheme == SchemeExternal {
		wanted = b.subnetIPv6
	}
	return wanted == "" || found == "" || found == wanted
}

// sameTier: only external IPv4 addresses are of one tier or the other.
func (b *builder) sameTier(found, version string) bool {
	return b.scheme == SchemeInternal || version == VersionIPv6 || found == "" || found == b.tier
}

// sameCollection: an address may be from any prefix unless the user names one.
func (b *builder) sameCollection(found, version string) bool {
	wanted := b.collection(version)
	return wanted == "" || samePath(wanted, found)
}

// wishedIP is the one of the status, which clients may still know: it is asked
// for, but the load balancer does not depend on it.
func (b *builder) wishedIP(version string) ipChoice {
	if hasRuleOf(b.have, version) {
		return ipChoice{} // the IP is known, and it does not fit
	}
	for _, i := range b.in.Service.Status.LoadBalancer.Ingress {
		ip := canonicalIP(i.IP)
		if ip == "" || VersionOf(ip) != version {
			continue
		}
		r, known := b.facts.reserved(func(r Reserved) bool { return r.IP == ip })
		if known && b.unfit(r) == "" {
			return ipChoice{ip: ip, user: !b.ownAddress(r.Name)}
		}
		s, inRegion := b.facts.subnet(b.subnet)
		private := inRegion && rangeContains(ip, s.CIDR)
		if !known && version == VersionIPv4 && private == (b.scheme == SchemeInternal) {
			return ipChoice{ip: ip, wish: true}
		}
	}
	return ipChoice{}
}

// hasRuleOf reports whether a stack has a forwarding rule of an IP version, of either scheme.
func hasRuleOf(have *stack.Stack, version string) bool {
	return slices.ContainsFunc(slices.Concat(have.Of(KindExternalRule), have.Of(KindInternalRule)), func(r stack.Resource) bool {
		rule, _ := r.Spec.(Rule)
		return rule.IPVersion == version
	})
}

// ownAddress reports whether the name is one under which we hold addresses.
func (b *builder) ownAddress(name string) bool {
	return slices.ContainsFunc(ruleKeys(), func(k string) bool { return b.names.rule(k) == name })
}

// Known is the rule as the cloud has it now, where nothing was left to the cloud.
func (r Rule) Known() (Rule, bool) {
	if r.Scheme == SchemeInternal {
		r.Tier = cmp.Or(r.Tier, TierPremium) // what the cloud says of all of them
	}
	placed := r.Scheme == SchemeExternal && r.IPVersion == VersionIPv4 || r.Network != "" && r.Subnet != ""
	r.Address, r.Wish = stack.Ref{}, false
	return r, placed && r.IP != "" && r.Tier != ""
}

// Known is the address with what the cloud says of all internal ones.
func (a Address) Known() Address {
	if a.Type == SchemeInternal {
		a.Tier = cmp.Or(a.Tier, TierPremium)
	}
	return a
}
