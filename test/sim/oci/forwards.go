package oci

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// Passage is one packet that reaches backends: from a client to a port of an address of a
// load balancer.
type Passage struct {
	Source, Address netip.Addr
	Protocol        string // TCP, UDP
	Port            int
	Backends        []netip.AddrPort // in order
}

// Forwards sends packets through the load balancers of the tenancy as they are now, and
// returns the packets that reach backends. Clients are the first address of every range that
// a rule names, and the one behind its last. Rules are stateful: answers always pass.
// Sources: Networking documentation, "Security Rules": a packet passes if any rule of any
// security list of the subnet, or of any network security group of the VNIC, allows it, at
// the sender and at the receiver; Load Balancer and Network Load Balancer documentation,
// health checks: a backend set without a healthy backend receives no packet.
func (c *Cloud) Forwards() []Passage {
	var out []Passage
	c.Locked(func() {
		c.Live.Settle(c.Clock.Now())
		n := &packetNetwork{state: c.Live}
		n.plug()
		for _, table := range []string{balancers, networkLBs} {
			for _, lb := range c.Live.All(table, nil) {
				out = append(out, n.throughBalancer(lb)...)
			}
		}
	})
	slices.SortFunc(out, func(a, b Passage) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), a.Source.Compare(b.Source))
	})
	return out
}

// packetNetwork is what packets pass in the tenancy.
type packetNetwork struct {
	state   *state
	clients []netip.Addr
	nodes   map[netip.Addr]port // by address
}

// port is an interface of a subnet, with the groups that it is in.
type port struct {
	address netip.Addr
	subnet  string
	groups  []string
}

// plug collects the interfaces of instances, and the clients to try.
func (n *packetNetwork) plug() {
	n.nodes = map[netip.Addr]port{}
	for _, vnic := range n.state.All(vnics, nil) {
		for _, text := range append(vnic.Texts("ipv6Addresses"), vnic.Text("privateIp")) {
			if a, err := netip.ParseAddr(text); err == nil {
				n.nodes[a] = port{a, vnic.Text("subnetId"), vnic.Texts("nsgIds")}
			}
		}
	}
	all := n.state.All(rules, nil)
	for _, l := range n.state.All(lists, nil) {
		all = append(all, l.Objects("ingressSecurityRules")...)
	}
	for _, r := range all {
		block, err := netip.ParsePrefix(r.Text("source"))
		if err != nil {
			continue
		}
		n.try(block.Masked().Addr())
		if after := sim.LastAddress(block).Next(); after.IsValid() {
			n.try(after)
		}
	}
}

func (n *packetNetwork) try(client netip.Addr) {
	if !slices.Contains(n.clients, client) {
		n.clients = append(n.clients, client)
	}
}

// throughBalancer sends packets to all listeners of one load balancer.
func (n *packetNetwork) throughBalancer(lb rest.Object) []Passage {
	var fronts []port
	for _, id := range append(lb.Texts("subnetIds"), lb.Text("subnetId")) {
		if id != "" {
			fronts = append(fronts, port{subnet: id, groups: lb.Texts("networkSecurityGroupIds")})
		}
	}
	var out []Passage
	for _, entry := range lb.Objects("ipAddresses") {
		address, err := netip.ParseAddr(entry.Text("ipAddress"))
		if err != nil {
			continue
		}
		for name := range lb.Object("listeners") {
			l := lb.Object("listeners").Object(name)
			if version := l.Text("ipVersion"); version != "" && version != versionOf(address.String()) {
				continue
			}
			number, _ := l.Number("port")
			for _, protocol := range transportProtocols(l.Text("protocol")) {
				for _, client := range n.clients {
					if client.Is4() != address.Is4() {
						continue
					}
					p := packet{from: port{address: client}, protocol: protocol, number: number}
					if !n.arrives(p, fronts) {
						continue
					}
					if to := n.behindListener(lb, l, client, fronts, protocol); len(to) > 0 {
						out = append(out, Passage{client, address, protocol, number, to})
					}
				}
			}
		}
	}
	return out
}

// packet is one on its way to a port of an interface.
type packet struct {
	from     port
	protocol string
	number   int
}

// arrives reports whether the packet may enter the load balancer in one of its subnets.
func (n *packetNetwork) arrives(p packet, at []port) bool {
	return slices.ContainsFunc(at, func(front port) bool { return n.enters(p, front) })
}

// behindListener returns the backends that get packets of a client.
func (n *packetNetwork) behindListener(lb, listener rest.Object, client netip.Addr, fronts []port, protocol string) []netip.AddrPort {
	set := lb.Object("backendSets").Object(listener.Text("defaultBackendSetName"))
	check, _ := set.Object("healthChecker").Number("port")
	var first, backup []netip.AddrPort
	for _, b := range set.Objects("backends") {
		number, _ := b.Number("port")
		address, err := netip.ParseAddr(b.Text("ipAddress"))
		node, known := n.nodes[address]
		if err != nil || !known || b.Truth("drain") || b.Truth("isDrain") || b.Truth("offline") || b.Truth("isOffline") {
			continue
		}
		if !n.passesFrom(fronts, node, "TCP", check, netip.Addr{}) {
			continue // it is not healthy
		}
		sender := netip.Addr{}
		if set.Truth("isPreserveSource") {
			sender = client
		}
		if !n.passesFrom(fronts, node, protocol, number, sender) {
			continue
		}
		if b.Truth("backup") || b.Truth("isBackup") {
			backup = append(backup, netip.AddrPortFrom(address, uint16(number)))
		} else {
			first = append(first, netip.AddrPortFrom(address, uint16(number)))
		}
	}
	if len(first) == 0 {
		first = backup
	}
	slices.SortFunc(first, netip.AddrPort.Compare)
	return first
}

// passesFrom reports whether packets reach a node from the load balancer in each of its
// subnets: from its own address, or from the address of the client that it preserves.
func (n *packetNetwork) passesFrom(fronts []port, node port, protocol string, number int, client netip.Addr) bool {
	for _, front := range fronts {
		front.address = client
		if !client.IsValid() {
			front.address = n.firstIn(front.subnet, node.address.Is4())
		} else {
			front.groups = nil // rules by group know senders by their own addresses
		}
		p := packet{from: front, protocol: protocol, number: number}
		if !n.leaves(p, fronts, node) || !n.enters(p, node) {
			return false
		}
	}
	return len(fronts) > 0
}

// firstIn returns an address of the subnet, as the load balancer has in it.
func (n *packetNetwork) firstIn(subnet string, four bool) netip.Addr {
	s, _ := n.state.Get(subnets, subnet)
	text := s.Text("cidrBlock")
	if !four {
		text = s.Text("ipv6CidrBlock")
	}
	block, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Addr{}
	}
	return block.Addr().Next().Next()
}

// enters reports whether a rule at the receiver allows the packet.
func (n *packetNetwork) enters(p packet, to port) bool {
	return slices.ContainsFunc(n.rulesAt(to, "ingressSecurityRules", "INGRESS"), func(r rest.Object) bool {
		return allowsPacket(r, p) && isPeer(r.Text("source"), r.Text("sourceType"), p.from)
	})
}

// leaves reports whether a rule at the load balancer allows the packet to the node.
func (n *packetNetwork) leaves(p packet, fronts []port, to port) bool {
	own := slices.IndexFunc(fronts, func(f port) bool { return f.subnet == p.from.subnet })
	return slices.ContainsFunc(n.rulesAt(fronts[own], "egressSecurityRules", "EGRESS"), func(r rest.Object) bool {
		return allowsPacket(r, p) && isPeer(r.Text("destination"), r.Text("destinationType"), to)
	})
}

// rulesAt returns the rules of a direction that apply to an interface.
func (n *packetNetwork) rulesAt(at port, key, direction string) []rest.Object {
	subnet, _ := n.state.Get(subnets, at.subnet)
	var out []rest.Object
	for _, id := range subnet.Texts("securityListIds") {
		l, _ := n.state.Get(lists, id)
		out = append(out, l.Objects(key)...)
	}
	for _, r := range n.state.All(rules, nil) {
		if r.Text("direction") == direction && slices.Contains(at.groups, r.Text(holder)) {
			out = append(out, r)
		}
	}
	return out
}

// allowsPacket reports whether a rule is for the protocol and port of a packet.
func allowsPacket(r rest.Object, p packet) bool {
	number, options := "6", "tcpOptions"
	if p.protocol == "UDP" {
		number, options = "17", "udpOptions"
	}
	if protocol := r.Text("protocol"); protocol != "all" && protocol != number {
		return false
	}
	span := r.Object(options).Object("destinationPortRange")
	low, limited := span.Number("min")
	high, _ := span.Number("max")
	return !limited || low <= p.number && p.number <= high
}

// isPeer reports whether the other side of a packet is what a rule names.
func isPeer(peer, kind string, of port) bool {
	if kind == "NETWORK_SECURITY_GROUP" {
		return slices.Contains(of.groups, peer)
	}
	block, err := netip.ParsePrefix(strings.TrimSpace(peer))
	return err == nil && block.Contains(of.address)
}
