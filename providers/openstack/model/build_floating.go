package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// front returns what a floating IP is bound to: the load balancer, or nothing while the load
// balancer is deleted before its replacement is created. The next plan binds it to that.
func (b *builder) front() stack.Ref {
	if b.replaces && b.holdsAddress() {
		return stack.Ref{}
	}
	return stack.RefTo(balancerKey())
}

// address wants a floating IP where the Service is external.
func (b *builder) address() {
	in := b.in
	if isInternal(in) || ipv6(in) {
		return
	}
	lb := b.front()
	if _, there, ok := b.found(); ok && there.Ownership == stack.External {
		return // its owner's affair
	}
	if r, ok := b.have.Get(stack.Key{Kind: KindBinding}); ok && in.Service.Spec.LoadBalancerIP == "" {
		spec, _ := r.Spec.(Binding)
		spec.Balancer = lb
		b.out.Put(stack.Resource{Key: r.Key, Slot: SlotFloating, Spec: spec}) // bound by the user
		return
	}
	if ip := in.Service.Spec.LoadBalancerIP; ip != "" {
		if known, ok := b.facts.Addresses[ip]; ok && !strings.Contains(known.Description, FloatingDescription(in.Cluster, in.Owner)) {
			if spec, _, _ := b.found(); known.Port != "" && known.Port != spec.Port {
				b.problems.Warn("spec.loadBalancerIP", ip, "is bound to the port "+known.Port+" and is taken when that lets it go; until then clients reach nothing", "a floating IP that is free")
			}
			b.out.Put(stack.Resource{Key: stack.Key{Kind: KindBinding}, Slot: SlotFloating, Spec: Binding{FloatingIP: known.ID, Address: ip, Balancer: lb}})
			return
		}
	}
	place := floatingPlace(in)
	want := FloatingIP{Network: cmp.Or(place.network, b.facts.External), Address: in.Service.Spec.LoadBalancerIP, Description: FloatingDescription(in.Cluster, in.Owner), Balancer: lb}
	want.Keep = keepsFloating(in.Service.Annotations[keepKey.Name])
	if want.Network == "" {
		b.problems.Warn(floatingNetworkKey.Name, "", "is nowhere said, and no external network can be found: clients reach the load balancer at its address in the network", "the id of an external network")
		return
	}
	if want.Network == floatingNetworkKey.Get(in.Values) && !b.facts.Externals[want.Network] {
		b.problems.Refuse(floatingNetworkKey.Name, want.Network, "is not found, not visible with these credentials, or not an external network", "the id of an external network")
		return
	}
	want.Subnets = b.floatingSubnets(place)
	b.fixedFloating(want, place)
	b.out.Put(stack.Resource{Key: stack.Key{Kind: KindFloatingIP}, Slot: SlotFloating, Spec: want})
}

// floatingSubnets are the ids of the subnets that a floating IP may be from, in order.
func (b *builder) floatingSubnets(place floating) []string {
	switch {
	case place.subnet != "":
		network := cmp.Or(place.network, b.facts.External)
		if s, ok := b.facts.Subnets[place.subnet]; !ok || s.Network != network {
			b.problems.Refuse(floatingSubnetKey.Name, place.subnet, "is no subnet of the external network "+network, "the id of one of its subnets")
		}
		return []string{place.subnet}
	case place.name == "" && place.tags == "":
		return nil
	}
	matches, err := namePattern(place.name)
	if err != nil {
		b.problems.Refuse(floatingNameKey.Name, place.name, "is no pattern: "+err.Error(), `a glob, or "~" and a regular expression`)
		return nil
	}
	var out []string
	tagged := b.facts.FloatingSubnets[place.network+" "+place.tags]
	for _, s := range tagged {
		if matches(s.Name) {
			out = append(out, s.ID)
		}
	}
	switch {
	case len(out) > 0:
	case len(tagged) == 0 && place.tags != "":
		b.problems.Refuse(floatingTagsKey.Name, place.tags, "matches no subnet of the external network", "tags that one of its subnets has")
	default:
		b.problems.Refuse(floatingNameKey.Name, place.name, "matches no subnet of the external network"+tagsToo(place.tags), "the name of one of its subnets, or a pattern of it")
	}
	return out
}

// fixedFloating reports where a live floating IP is not from the network or the subnets that
// the Service names. Neutron cannot change them.
func (b *builder) fixedFloating(want FloatingIP, place floating) {
	live, exists := stack.SpecOf[FloatingIP](b.have, stack.Key{Kind: KindFloatingIP})
	if !exists || live.Address == "" {
		return
	}
	const stays = "is not applied: the Service keeps its floating IP %s; to get one from there, delete the Service and create it again"
	if want.Network != live.Network && want.Network == floatingNetworkKey.Get(b.in.Values) {
		b.notApplied(floatingNetworkKey.Warning(b.in.Values, fmt.Sprintf(stays, live.Address), ""))
		return
	}
	address, err := netip.ParseAddr(live.Address)
	if err != nil || len(want.Subnets) == 0 || b.within(address, place) {
		return
	}
	for _, key := range []*annotations.Key[string]{floatingSubnetKey, floatingNameKey, floatingTagsKey} {
		if key.Get(b.in.Values) != "" {
			b.notApplied(key.Warning(b.in.Values, fmt.Sprintf(stays, live.Address), ""))
			return
		}
	}
}

// within reports whether an address is in one of the subnets of a place, as far as these
// could be read.
func (b *builder) within(address netip.Addr, place floating) bool {
	candidates := b.facts.FloatingSubnets[place.network+" "+place.tags]
	if s, known := b.facts.Subnets[place.subnet]; place.subnet != "" {
		if !known {
			return true
		}
		candidates = []Subnet{s}
	}
	matches, err := namePattern(place.name)
	return err != nil || slices.ContainsFunc(candidates, func(s Subnet) bool {
		return (place.subnet != "" || matches(s.Name)) && (!s.CIDR.IsValid() || s.CIDR.Contains(address))
	})
}
