package model

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// subnetMappings are the subnets with their addresses. A live load balancer stays where
// it is unless the Service names other subnets, and in a subnet keeps its addresses.
func (f *controlled) subnetMappings() []Mapping {
	if f.follows() {
		f.chosen = f.subnetsOf(f.old.Mappings)
		return f.old.Mappings
	}
	live := f.exists && len(f.old.Mappings) > 0
	_, _, named := subnetsKey.Lookup(f.in.Values)
	if live && !named {
		f.chosen = f.subnetsOf(f.old.Mappings)
	} else {
		f.chosen = f.choose(named)
	}
	f.demandIPv6()
	out := make([]Mapping, 0, len(f.chosen))
	for _, s := range f.chosen {
		out = append(out, Mapping{Subnet: s.ID})
	}
	f.addresses(out)
	nat := f.sourceNAT()
	for i, m := range out {
		at := slices.IndexFunc(f.old.Mappings, func(o Mapping) bool { return o.Subnet == m.Subnet })
		if !live || at < 0 {
			continue
		}
		out[i] = f.old.Mappings[at]
		if !f.dual {
			out[i].IPv6 = ""
		}
		if nat != "on" {
			out[i].SourceNAT = ""
		}
		if m.IPv6 != "" && out[i].IPv6 == "" {
			out[i].IPv6 = m.IPv6 // the load balancer had none so far
		}
		if m.SourceNAT != "" {
			out[i].SourceNAT = m.SourceNAT
		}
	}
	slices.SortFunc(out, func(x, y Mapping) int { return strings.Compare(x.Subnet, y.Subnet) })
	if live {
		f.keepAddresses(out)
	}
	return out
}

// subnetsOf finds the subnets of a live load balancer, ordered by id.
func (f *controlled) subnetsOf(list []Mapping) []Subnet {
	var out []Subnet
	for _, m := range list {
		i := slices.IndexFunc(f.facts.Subnets, func(s Subnet) bool { return s.ID == m.Subnet })
		if i < 0 {
			out = append(out, Subnet{ID: m.Subnet})
			continue
		}
		out = append(out, f.facts.Subnets[i])
	}
	return out
}

func (f *controlled) choose(named bool) []Subnet {
	var out []Subnet
	var problems annotations.Problems
	if named {
		names, from, _ := subnetsKey.Lookup(f.in.Values)
		out, problems = f.subnetsNamed(names, from)
	} else if out = f.discover(); len(out) == 0 {
		problems = annotations.Problems{f.nowhere()}
	}
	f.report(problems...)
	return out
}

// demandIPv6 refuses IPv6 on a load balancer that is in a subnet without it.
func (f *controlled) demandIPv6() {
	for _, s := range f.chosen {
		if f.dual && s.CIDR6 == "" && f.old.AddressType != addressDual {
			f.report(addressTypeKey.Refusal(f.in.Values, "needs IPv6 in every subnet, and "+s.ID+" has none", "subnets with an IPv6 range"))
		}
	}
}

// subnetsNamed finds subnets by id or by the tag Name, in the order of the list. Each mention of
// a name takes one subnet of it: first the subnets of an existing load balancer, then by id.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/networking/subnet_resolver.go
// (ResolveViaNameOrIDSlice), since February 2026.
func (f *controlled) subnetsNamed(names []string, from annotations.Origin) ([]Subnet, annotations.Problems) {
	var out []Subnet
	var problems annotations.Problems
	mentions, zones := map[string]int{}, map[string]string{}
	for _, name := range names {
		candidates := f.candidates(name)
		at := mentions[name]
		mentions[name]++
		switch {
		case at > 0 && strings.HasPrefix(name, "subnet-"):
			continue
		case len(candidates) == 0:
			problems = append(problems, refuseValue(from, fmt.Sprintf("names %q, which is no subnet of %s", name, f.facts.VPC), "ids or names of subnets of the VPC")...)
			continue
		case at >= len(candidates):
			problems = append(problems, refuseValue(from, fmt.Sprintf("names %q %d times, which is the name of %d subnets", name, at+1, len(candidates)), "each name as often as there are subnets of it")...)
			continue
		}
		s := candidates[at]
		if other, taken := zones[s.Zone]; taken && s.Zone != "" && other != s.ID {
			problems = append(problems, refuseValue(from, fmt.Sprintf("names %s and %s, which are both in %s", other, s.ID, s.Zone), "one subnet in each zone")...)
		}
		zones[s.Zone] = s.ID
		out = append(out, s)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return out, nil
}

// candidates are the subnets that a name or id of the annotation can mean.
func (f *controlled) candidates(name string) []Subnet {
	out := slices.DeleteFunc(slices.Clone(f.facts.Subnets), func(s Subnet) bool {
		return s.ID != name && (strings.HasPrefix(name, "subnet-") || s.Name != name)
	})
	live := func(s Subnet) bool {
		return slices.ContainsFunc(f.old.Mappings, func(m Mapping) bool { return m.Subnet == s.ID })
	}
	slices.SortFunc(out, func(a, b Subnet) int {
		if live(a) != live(b) && live(a) {
			return -1
		} else if live(a) != live(b) {
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return out
}

// discover chooses one subnet in each zone, ordered by id: of the subnets with the tag
// of the role, or without any such, of the subnets that the routes fit. It skips subnets
// that are tagged for other clusters only, have no room for a load balancer or lack IPv6
// that is needed.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/networking/subnet_resolver.go (ResolveViaDiscovery).
func (f *controlled) discover() []Subnet {
	role := tagPublicRole
	if f.scheme == SchemeInternal {
		role = tagInternalRole
	}
	candidates := slices.DeleteFunc(slices.Clone(f.facts.Subnets), func(s Subnet) bool {
		value, ok := s.Tags[role]
		return !ok || value != "" && value != "1"
	})
	if len(candidates) == 0 {
		candidates = slices.DeleteFunc(slices.Clone(f.facts.Subnets), func(s Subnet) bool { return s.Public == (f.scheme == SchemeInternal) })
	}
	own := TagClusterPrefix + f.in.Cluster
	best := map[string]Subnet{}
	for _, s := range candidates {
		_, ours := s.Tags[own]
		if !f.hasRoom(s, ours) {
			continue
		}
		other, taken := best[s.Zone]
		_, othersOurs := other.Tags[own]
		if !taken || ours && !othersOurs || ours == othersOurs && s.ID < other.ID {
			best[s.Zone] = s
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b Subnet) int { return cmp.Compare(a.ID, b.ID) })
}

// hasRoom reports whether a subnet that was not named can take the load balancer; ours:
// it has the tag of this cluster.
func (f *controlled) hasRoom(s Subnet, ours bool) bool {
	othersOnly := anyClusterTag(s.Tags) && !ours && !f.facts.Cluster.Marks(s.Tags)
	inZone := s.ZoneType == "" || s.ZoneType == "availability-zone"
	return !s.Full && !othersOnly && inZone && (!f.dual || s.CIDR6 != "")
}

func (f *controlled) nowhere() annotations.Problem {
	role := map[string]string{SchemeInternal: tagInternalRole, schemePublic: tagPublicRole}[f.scheme]
	return annotations.ProblemOf(subnetsKey.Name, "", fmt.Sprintf("is not set, and no subnet of %s fits an %s load balancer: of %d subnets none has the tag %s or the routes for it, eight free addresses and no tag of another cluster alone",
		f.facts.VPC, f.scheme, len(f.facts.Subnets), role), "a list of subnets, or the tag "+role+" on one in each zone", annotations.Error)
}

// addresses puts the addresses that the user lists into the mappings of new subnets.
func (f *controlled) addresses(to []Mapping) {
	v := f.in.Values
	if eips, from, said := eipKey.Lookup(v); said && f.fits(len(eips), len(to), from, f.scheme != schemePublic, schemePublic) {
		for i := range to {
			to[i].Allocation = eips[i]
		}
	}
	if ips, from, said := privateIPKey.Lookup(v); said && f.fits(len(ips), len(to), from, f.scheme != SchemeInternal, SchemeInternal) {
		f.spread(ips, from, func(i int, a string) { to[i].PrivateIP = a })
	}
	if ips, from, said := ipv6Key.Lookup(v); said {
		if !f.dual {
			f.report(refuseValue(from, "needs "+addressTypeKey.Name+`: "dualstack"`, "")...)
		} else if f.fits(len(ips), len(to), from, false, "") {
			f.spread(ips, from, func(i int, a string) { to[i].IPv6 = a })
		}
	}
	prefixes, from, said := natPrefixesKey.Lookup(v)
	switch {
	case !said || len(prefixes) == 0:
	case f.sourceNAT() != "on":
		f.report(refuseValue(from, "needs "+sourceNATKey.Name+`: "on"`, "")...)
	case f.fits(len(prefixes), len(to), from, false, ""):
		for i := range to {
			if prefixes[i] != natAssigned {
				to[i].SourceNAT = prefixes[i]
			}
		}
	}
}

// spread gives each subnet the one address that is in its range.
func (f *controlled) spread(ips []netip.Addr, from annotations.Origin, put func(int, string)) {
	for i, s := range f.chosen {
		in := slices.DeleteFunc(slices.Clone(ips), func(a netip.Addr) bool { return !s.holds(a) })
		if len(in) != 1 {
			f.report(refuseValue(from, fmt.Sprintf("has %d addresses in the range of %s", len(in), s.ID), "one address for each subnet, within its range")...)
			continue
		}
		put(i, in[0].String())
	}
}

// sourceNAT reports whether the load balancer has IPv6 prefixes to send from.
func (f *controlled) sourceNAT() string {
	on := sourceNATKey.Get(f.in.Values)
	if on == "on" && !f.dual {
		f.report(sourceNATKey.Refusal(f.in.Values, "needs "+addressTypeKey.Name+`: "dualstack"`, ""))
	}
	return on
}

// privateLink is whether the rules of the groups hold for private links; empty: as it is.
func (f *controlled) privateLink() string {
	value, from, said := privateLinkKey.Lookup(f.in.Values)
	if said && len(f.groups) == 0 {
		f.report(warnAbout(from, "has no effect on a load balancer without security groups", "")...)
		return ""
	}
	return value
}
