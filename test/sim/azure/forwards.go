package azure

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Passage is one packet that was sent to a frontend, and the nodes that may get it.
type Passage struct {
	Source, Address netip.Addr
	// Protocol is TCP, UDP or SCTP; empty of a rule for all of them.
	Protocol string
	Port     int      // 0: any, of a rule for all ports
	Nodes    []string // names, in order; none: the packet is dropped
}

// Forwards sends packets to every port of every frontend and returns them with the nodes that
// get them through the security group of the subnet. Health probes are not considered.
// Clients are the first address of every source range of a security rule, the one behind its
// last, one of the Internet and one of the network.
// Sources: Azure documentation, Load Balancer: with floating IP, the packet reaches the node
// with the address and port of the frontend, else with those of the node. Network security
// groups: the lowest priority number decides, default rules come last.
func (c *Cloud) Forwards() []Passage {
	c.settle()
	c.running.RLock()
	defer c.running.RUnlock()
	f := &forwarding{state: c.ARM.State, nodes: c.Seed.Nodes, filters: filtersOf(c.ARM.State, c.Seed.SubnetID(c.Seed.Subnet))}
	var out []Passage
	for _, lb := range f.state.All("Microsoft.Network/loadBalancers") {
		for _, rule := range arm.List(lb.Doc, "properties", "loadBalancingRules") {
			if p := arm.Object(rule, "properties"); p != nil {
				out = append(out, f.sendThrough(p)...)
			}
		}
	}
	slices.SortFunc(out, func(a, b Passage) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), a.Source.Compare(b.Source))
	})
	return out
}

// forwarding is a moment of the cloud.
type forwarding struct {
	state   *arm.State
	nodes   []Node
	filters []arm.Doc // rules of the security group, the strongest first
}

// filtersOf returns the inbound rules of the security group of a subnet.
func filtersOf(s *arm.State, subnet string) []arm.Doc {
	part, _ := s.Part(subnet)
	group := s.Lookup(arm.Text(part, "properties", "networkSecurityGroup", "id"))
	if group == nil {
		return nil
	}
	var out []arm.Doc
	for _, rule := range arm.List(group.Doc, "properties", "securityRules") {
		if p := arm.Object(rule, "properties"); strings.EqualFold(arm.Text(p, "direction"), "Inbound") {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b arm.Doc) int { return cmp.Compare(priorityOf(a), priorityOf(b)) })
	return out
}

func priorityOf(rule arm.Doc) int {
	n, _ := arm.Number(rule, "priority")
	return n
}

// packet is what the security group sees of one on its way to a node.
type packet struct {
	from, to netip.Addr
	protocol string
	port     int // 0: any
}

// sendThrough sends a packet of every client through a rule of a load balancer.
func (f *forwarding) sendThrough(rule arm.Doc) []Passage {
	front, _ := f.state.Part(arm.Text(rule, "frontendIPConfiguration", "id"))
	address, ok := f.addressOf(front)
	if !ok {
		return nil
	}
	port, _ := arm.Number(rule, "frontendPort")
	behind, _ := arm.Number(rule, "backendPort")
	protocol := strings.ToUpper(arm.Text(rule, "protocol"))
	shown := protocol
	if protocol == "ALL" {
		shown = map[bool]string{true: "", false: "SCTP"}[port == 0]
	}
	nodes := f.membersOf(arm.Text(rule, "backendAddressPool", "id"))
	var out []Passage
	public := arm.Text(front, "properties", "publicIPAddress", "id") != ""
	for _, client := range f.clientsOf(address.Is4()) {
		if public && client.IsPrivate() {
			continue // its packets would leave the network with a public address
		}
		one := Passage{Source: client, Address: address, Protocol: shown, Port: port}
		for _, n := range nodes {
			seen := packet{from: client, to: address, protocol: protocol, port: port}
			if !arm.Flag(rule, "enableFloatingIP") && behind != 0 {
				seen.to, seen.port = n.addressIn(address.Is4()), behind
			}
			if f.admitsPacket(seen) {
				one.Nodes = append(one.Nodes, n.Name)
			}
		}
		slices.Sort(one.Nodes)
		one.Nodes = slices.Compact(one.Nodes)
		out = append(out, one)
	}
	return out
}

func (n Node) addressIn(four bool) netip.Addr {
	text := n.PrivateIP6
	if four {
		text = n.PrivateIP
	}
	a, _ := netip.ParseAddr(text) // the zero address of a node without one
	return a
}

// addressOf returns the address of a frontend.
func (f *forwarding) addressOf(front arm.Doc) (netip.Addr, bool) {
	text := arm.Text(front, "properties", "privateIPAddress")
	if r := f.state.Lookup(arm.Text(front, "properties", "publicIPAddress", "id")); r != nil {
		text = arm.Text(r.Doc, "properties", "ipAddress")
	}
	a, err := netip.ParseAddr(text)
	return a, err == nil
}

// membersOf returns the nodes in a pool: by address, or by network interface.
func (f *forwarding) membersOf(pool string) []Node {
	part, _ := f.state.Part(pool)
	var out []Node
	for _, n := range f.nodes {
		in := slices.ContainsFunc(arm.List(part, "properties", "loadBalancerBackendAddresses"), func(e arm.Doc) bool {
			ip, err := netip.ParseAddr(arm.Text(e, "properties", "ipAddress"))
			return err == nil && (ip == n.addressIn(true) || ip == n.addressIn(false))
		})
		nic, _, _ := strings.Cut(n.IPConfiguration, "/ipConfigurations/")
		for _, r := range f.state.ReferredBy(pool) {
			in = in || arm.Within(r.From, nic)
		}
		if in {
			out = append(out, n)
		}
	}
	return out
}

// clientsOf returns the clients of a family that packets are sent from.
func (f *forwarding) clientsOf(four bool) []netip.Addr {
	out := []netip.Addr{netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("10.240.200.200")}
	if !four {
		out = []netip.Addr{netip.MustParseAddr("2001:db8:ffff::1"), netip.MustParseAddr("fd12:3456:789a::c8c8")}
	}
	for _, rule := range f.filters {
		for _, text := range bothForms(rule, "sourceAddressPrefix", "sourceAddressPrefixes") {
			if r, err := netip.ParsePrefix(text); err == nil && r.Addr().Is4() == four {
				out = append(out, r.Masked().Addr())
				if next := behindLast(r); next.IsValid() {
					out = append(out, next)
				}
			}
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

// behindLast returns the address behind the last one of a range; invalid: there is none.
func behindLast(r netip.Prefix) netip.Addr {
	b := r.Masked().Addr().AsSlice()
	for i := r.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	last, _ := netip.AddrFromSlice(b) // its length is that of an address
	return last.Next()
}

// bothForms reads a field that has a singular and a plural form.
func bothForms(rule arm.Doc, one, many string) []string {
	out := slices.Clone(arm.Texts(rule, many))
	if text := arm.Text(rule, one); text != "" {
		out = append(out, text)
	}
	return out
}

// admitsPacket reports whether the security group lets a packet pass. The default rules admit the
// network to its own addresses and deny the rest.
func (f *forwarding) admitsPacket(p packet) bool {
	for _, rule := range f.filters {
		if matchesPacket(rule, p) {
			return strings.EqualFold(arm.Text(rule, "access"), "Allow")
		}
	}
	return p.from.IsPrivate() && p.to.IsPrivate()
}

func matchesPacket(rule arm.Doc, p packet) bool {
	protocol := strings.ToUpper(arm.Text(rule, "protocol"))
	return (protocol == "*" || p.protocol == "ALL" || protocol == p.protocol) &&
		matchesAddress(bothForms(rule, "sourceAddressPrefix", "sourceAddressPrefixes"), p.from) &&
		matchesAddress(bothForms(rule, "destinationAddressPrefix", "destinationAddressPrefixes"), p.to) &&
		matchesPort(bothForms(rule, "destinationPortRange", "destinationPortRanges"), p.port)
}

// matchesAddress reports whether an address is in one of the prefixes or tags. All private
// addresses are taken to be of the network, since it is connected to others; tags of
// Azure's own services match no client.
func matchesAddress(list []string, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(text string) bool {
		switch {
		case text == "*":
			return true
		case strings.EqualFold(text, "Internet"):
			return !a.IsPrivate()
		case strings.EqualFold(text, "VirtualNetwork"):
			return a.IsPrivate()
		}
		if r, err := netip.ParsePrefix(text); err == nil {
			return r.Contains(a)
		}
		one, err := netip.ParseAddr(text)
		return err == nil && one == a
	})
}

// matchesPort reports whether a port is in one of the ranges. Any port is in each of them.
func matchesPort(list []string, port int) bool {
	return slices.ContainsFunc(list, func(text string) bool {
		first, last, many := strings.Cut(text, "-")
		if !many {
			last = first
		}
		low, err := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		return text == "*" || port == 0 || err == nil && err2 == nil && low <= port && port <= high
	})
}
