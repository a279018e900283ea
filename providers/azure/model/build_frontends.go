package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// frontend adds the frontend of a family and the public IP that it needs.
func (b *builder) frontend(family corev1.IPFamily) {
	f := Frontend{Name: frontendName(b.base, b.subnetPart(), b.suffix(family)), Version: string(family)}
	ok := false
	if b.in.Kind == Internal {
		f, ok = b.privateFrontend(f, family)
	} else {
		f, ok = b.publicFrontend(f, family)
	}
	if ok {
		b.entries.Frontends = append(b.entries.Frontends, b.nameFrontend(f))
	}
}

// nameFrontend gives the frontend the name of the one that has its address already: the
// name of another Service's, or its own.
func (b *builder) nameFrontend(f Frontend) Frontend {
	lb, _ := b.onBalancer()
	for _, there := range lb.Frontends {
		samePlace := !f.PublicIP.IsZero() && there.PublicIP == f.PublicIP ||
			f.PublicIP.IsZero() && f.Address != "" && there.Address == f.Address
		others := slices.ContainsFunc(there.Users, func(u string) bool { return !ownedBy(b.base, u) })
		if samePlace && (!ownedBy(b.base, there.Name) || others || there.Held) {
			f.Name, f.Subnet = there.Name, there.Subnet
		}
	}
	return f
}

// nameFor is the name of the frontend of a family as it is wanted.
func (b *builder) nameFor(family corev1.IPFamily) string {
	for _, f := range b.entries.Frontends {
		if f.Version == string(family) {
			return f.Name
		}
	}
	return ""
}

// privateFrontend chooses the subnet and, if one is requested or was assigned, the address:
// the user's, else the existing frontend's, else the one in the previous status. The last
// is used only if no other frontend has it, since a status can be stale.
func (b *builder) privateFrontend(f Frontend, family corev1.IPFamily) (Frontend, bool) {
	name := subnetName(b.in)
	subnet, ok := b.facts.Subnets[lowerCase(name)]
	if !ok {
		b.fail(subnetKey.Name, name, "is no subnet of the virtual network "+b.in.Config.VNet, "the name of a subnet")
		return f, false
	}
	f.Subnet = cmp.Or(subnet.ID, b.in.Config.SubnetID(name))
	if b.in.Config.ExtendedLocation.Name == "" {
		f.Zones = b.facts.Zones
	}
	f.Address, f.Static = b.privateAddress(f, subnet, family)
	b.addresses[family] = f.Address
	return f, true
}

//nolint:gocyclo // The ways to an address, each in a line or two, in the order in which they count.
func (b *builder) privateAddress(f Frontend, subnet FoundSubnet, family corev1.IPFamily) (string, bool) {
	wanted, asked := wantedIP(b.in, family)
	had := b.foundEntries().Frontends
	for _, old := range had {
		if !strings.EqualFold(old.Name, f.Name) && old.Version != f.Version {
			continue
		}
		kept := asked && old.Address == wanted.String() || !asked && (SameID(old.Subnet, f.Subnet) || subnet.holds(old.Address))
		if kept && old.PublicIP.IsZero() && (ownedBy(b.base, old.Name) || asked) {
			return old.Address, old.Static
		}
	}
	if asked {
		return wanted.String(), true
	}
	for _, in := range b.in.Service.Status.LoadBalancer.Ingress {
		a, err := netip.ParseAddr(in.IP)
		if err == nil && nodeports.FamilyOf(a) == family && subnet.holds(a.String()) && !b.isHeld(a.String()) {
			return a.Unmap().String(), true
		}
	}
	return "", false
}

// isHeld reports whether a frontend of another Service has the address.
func (b *builder) isHeld(address string) bool {
	for _, lb := range b.facts.Balancers {
		for _, f := range lb.Frontends {
			if f.Address == address && !ownedBy(b.base, f.Name) {
				return true
			}
		}
	}
	return false
}

func (s FoundSubnet) holds(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.Prefixes, func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err == nil && p.Contains(a)
	})
}

// publicFrontend finds or makes the public IP of a family.
func (b *builder) publicFrontend(f Frontend, family corev1.IPFamily) (Frontend, bool) {
	group := lowerCase(groupKey.Or(b.in.Values, b.in.Config.Group))
	if !b.there(groupKey, b.facts.Groups) {
		return f, false
	}
	name, ip, ok := b.publicIP(group, family)
	if !ok {
		return f, false
	}
	switch {
	case ip == nil:
		b.newPublicIP(group, name, family)
	case !b.fits(*ip, family):
		return f, false
	case ip.Managed() && ip.Tags.OfCluster(b.cluster):
		b.managedIP(*ip, family)
	default:
		b.userIP(*ip)
	}
	key := PublicIPKey(group, name)
	f.PublicIP = stack.RefTo(key)
	b.addresses[family] = b.publicAddress(key, ip)
	f.Address = b.addresses[family]
	return f, true
}

// there reports whether the resource group that a key names exists, and records a problem
// if it does not. Without a name it is the configuration's.
func (b *builder) there(key *annotations.Key[string], exist []string) bool {
	said := key.Get(b.in.Values)
	ok := said == "" || slices.Contains(exist, lowerCase(said))
	if !ok {
		b.fail(key.Name, said, "is not found, or the controller's credentials may not read it", "the name of a resource group that they may read")
	}
	return ok
}

// publicIP selects the public IP of a family from the user's settings, in this order: a
// name, a prefix, an address; else the Service has its own public IP. Nil means that it
// does not exist yet.
func (b *builder) publicIP(group string, family corev1.IPFamily) (string, *FoundIP, bool) {
	if name, key := b.perFamily(pipNameKey, pipNameV6Key, family); name != "" {
		ip := b.facts.publicIP(group, name)
		if ip == nil {
			b.fail(key, name, "is no public IP of the resource group "+group, "the name of one that exists")
			return "", nil, false
		}
		b.tellOtherIP(ip, family, key)
		return ip.Name, ip, true
	}
	prefix, key := b.perFamily(pipPrefixKey, pipPrefixV6Key, family)
	if wanted, asked := wantedIP(b.in, family); asked && prefix == "" {
		return b.publicIPOfAddress(group, wanted, wantedBy(b.in, family))
	}
	name := publicIPName(b.cluster, b.base, prefix, b.suffix(family))
	ip := b.facts.publicIP(group, name)
	if _, there := b.have.Get(PublicIPKey(group, name)); ip != nil && b.mine(*ip) && !there {
		ip = nil // deleted since the facts were read
	}
	if prefix != "" {
		b.tellOtherIP(ip, family, key)
	}
	return name, ip, true
}

// tellOtherIP warns where the Service asks for an address, and a stronger key leads
// to a public IP that has another one.
func (b *builder) tellOtherIP(ip *FoundIP, family corev1.IPFamily, by string) {
	if wanted, asked := wantedIP(b.in, family); asked && (ip == nil || ip.Address != wanted.String()) {
		b.report(annotations.ProblemOf(wantedBy(b.in, family), wanted.String(), "has no effect, because "+by+" says which public IP it is", "", annotations.Warning))
	}
}

// publicIPOfAddress finds the public IP with the address that a key asks for.
func (b *builder) publicIPOfAddress(group string, wanted netip.Addr, key string) (string, *FoundIP, bool) {
	if !isPublic(wanted) {
		b.report(noPublicAddress(key, wanted))
		return "", nil, false
	}
	for i, ip := range b.facts.PublicIPs {
		if ip.Group == group && ip.Address == wanted.String() {
			return ip.Name, &b.facts.PublicIPs[i], true
		}
	}
	b.fail(key, wanted.String(), "is the address of no public IP of the resource group "+group, "the address of one that exists; "+groupKey.Name+" names another group")
	return "", nil, false
}

// noPublicAddress is the problem of a public load balancer that asks for an address of its network.
func noPublicAddress(key string, wanted netip.Addr) annotations.Problem {
	return annotations.ProblemOf(key, wanted.String(), "is no public address", "the address of a public IP, or "+internalKey.Name, annotations.Error)
}

// isPublic reports whether clients of the Internet can reach the address.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_utils.go.
func isPublic(a netip.Addr) bool {
	shared := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10)
	platform := netip.AddrFrom4([4]byte{168, 63, 129, 16})
	return a.IsGlobalUnicast() && !a.IsPrivate() && !shared.Contains(a) && a != platform
}

// perFamily returns the value of the key of both families or of that of IPv6, and the name of
// the key. A Service with IPv6 alone may use either.
func (b *builder) perFamily(one, six *annotations.Key[string], family corev1.IPFamily) (value, key string) {
	if value = six.Get(b.in.Values); family == corev1.IPv6Protocol && (b.dual() || value != "") {
		return value, six.Name
	}
	return one.Get(b.in.Values), one.Name
}

func (f *Facts) publicIP(group, name string) *FoundIP {
	for i, ip := range f.PublicIPs {
		if ip.Group == group && strings.EqualFold(ip.Name, name) {
			return &f.PublicIPs[i]
		}
	}
	return nil
}

// publicAddress is the address as far as it is known: of what was found, or of
// what has just been made.
func (b *builder) publicAddress(key stack.Key, ip *FoundIP) string {
	if ip != nil && ip.Address != "" {
		return ip.Address
	}
	if r, ok := b.have.Get(key); ok {
		if spec, ok := r.Spec.(PublicIP); ok && spec.Address != "" {
			return spec.Address
		}
	}
	for _, f := range b.foundEntries().Frontends {
		if f.PublicIP.To == key {
			return f.Address
		}
	}
	return ""
}
