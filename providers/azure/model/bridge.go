package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// sourceNetwork is the service tag for the virtual network, its peers and what is connected to
// it: the clients that the default rules of Azure let in to private addresses.
const sourceNetwork = "VirtualNetwork"

// bridge wants entries that let in the virtual network by a rule, for as long as ports of a
// served Service depend on the default rules while an entry that denies is created or deleted.
// An entry that denies is for all ports of an address. Without the bridge it cuts off the old
// ports before the load balancer has the new ones, and new ports until it is deleted. The next
// plan deletes the bridge.
func (b *builder) bridge(who whoMay, family string, destinations []string) {
	if b.in.Kind != Internal || b.in.Ended() {
		return
	}
	for _, d := range destinations {
		if !b.isAlone(d) {
			continue
		}
		denied, bridged := b.enteredAt(d)
		for rank, protocol := range []string{"Tcp", "Udp", "*"} {
			had, wanted := b.servedPorts(d, protocol), b.openPorts(protocol)
			old, added := withoutTexts(had, wanted), withoutTexts(wanted, had)
			switch {
			case len(had) == 0:
			case who.deny && len(old) > 0 && (!denied || bridged):
				b.letInNetwork(family, protocol, old, d, rank)
			case !who.deny && denied && (len(added) > 0 || bridged):
				b.letInNetwork(family, protocol, wanted, d, rank)
			}
		}
	}
}

// letInNetwork wants the entry that lets in the virtual network to ports of an address.
func (b *builder) letInNetwork(family, protocol string, ports []string, destination string, rank int) {
	sources := []string{sourceNetwork}
	b.enter(Access{
		Rule: allowName(family, protocol, sources, ports), Family: family, Protocol: protocol, Sources: sources, Ports: ports, Rank: rank*rankProtocol + rankBridge,
	}, []string{destination})
}

// enteredAt reports whether an address has an entry that denies, and one that lets in the
// virtual network.
func (b *builder) enteredAt(destination string) (denied, bridged bool) {
	for r, a := range stack.Each[Access](b.have, KindAccess) {
		if a.Destination == destination && r.Proof != stack.None {
			denied = denied || a.Deny
			bridged = bridged || !a.Deny && slices.Equal(a.Sources, []string{sourceNetwork})
		}
	}
	return denied, bridged
}

// servedPorts returns the ports of an address that the found rules serve, as texts in order.
func (b *builder) servedPorts(address, protocol string) []string {
	found := b.foundEntries()
	var out []string
	for _, r := range found.Rules {
		at := func(f Frontend) bool { return f.Name == r.Frontend && f.Address == address }
		if wire := r.Protocol; r.FrontendPort == 0 || wire != protocol && !(wire == protocolAll && protocol == "*") || !slices.ContainsFunc(found.Frontends, at) {
			continue
		}
		out = append(out, string(jsonNumber(r.FrontendPort)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutTexts returns the members of a list that another one lacks.
func withoutTexts(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(other, text) })
}
