package openstack

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Passage is what one client address reaches through one port of one address.
type Passage struct {
	Client, Address netip.Addr
	Protocol        string // TCP, UDP, SCTP
	Port            int
	Members         []string // host and port, in order
}

// Forwards sends packets of clients to all listeners of the project as it is now, at the
// addresses of their load balancers and at the floating IPs that are bound to them, and
// returns the packets that reach members. Nodes accept everything, unless the project has security
// groups of which the name begins with guarded: then they accept what rules of these admit.
// Sources: Octavia API reference, allowed_cidrs: without a range everyone is admitted. Neutron
// API reference, security groups: what no rule of a port's groups admits is dropped.
func (c *Cloud) Forwards(clients []netip.Addr, guarded string) []Passage {
	var out []Passage
	c.Locked(func() {
		f := &forwarder{state: c.Live, clients: clients}
		for _, g := range c.Live.All(groups, nil) {
			if guarded != "" && strings.HasPrefix(g.Text("name"), guarded) {
				f.guarded = guarded
			}
		}
		for _, l := range c.Live.All(listeners, nil) {
			lb, ok := c.Live.Get(balancers, l.Text("loadbalancer"))
			if !ok {
				continue
			}
			for _, address := range f.addressesOf(lb) {
				out = append(out, f.passagesOf(lb, l, address)...)
			}
		}
	})
	slices.SortFunc(out, func(a, b Passage) int {
		return cmp.Or(a.Address.Compare(b.Address), strings.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), a.Client.Compare(b.Client))
	})
	return out
}

// forwarder sends packets through one state of the project.
type forwarder struct {
	state   *state
	guarded string
	clients []netip.Addr
}

func (f *forwarder) addressesOf(lb Object) []netip.Addr {
	texts := []string{lb.Text("vip_address")}
	for _, ip := range f.state.Having(floating, "port_id", lb.Text("vip_port_id")) {
		texts = append(texts, ip.Text("floating_ip_address"))
	}
	var out []netip.Addr
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, a)
		}
	}
	return out
}

func (f *forwarder) passagesOf(lb, l Object, address netip.Addr) []Passage {
	port, _ := l.Number("protocol_port")
	protocol := l.Text("protocol")
	if protocol != "UDP" && protocol != "SCTP" {
		protocol = "TCP"
	}
	var out []Passage
	for _, client := range f.clients {
		if client.Is4() != address.Is4() || !admitsClient(l.Texts("allowed_cidrs"), client) {
			continue
		}
		p := Passage{Client: client, Address: address, Protocol: protocol, Port: port}
		for _, m := range f.state.Having(members, "pool", l.Text("default_pool_id")) {
			if f.accepts(lb, m, protocol, client) {
				at, _ := m.Number("protocol_port")
				to, _ := netip.ParseAddr(m.Text("address"))
				p.Members = append(p.Members, netip.AddrPortFrom(to, uint16(at)).String())
			}
		}
		if len(p.Members) > 0 {
			slices.Sort(p.Members)
			out = append(out, p)
		}
	}
	return out
}

// admitsClient reports whether the ranges contain the client. No ranges admit everyone.
func admitsClient(list []string, client netip.Addr) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(text string) bool {
		r, err := netip.ParsePrefix(text)
		return err == nil && r.Contains(client)
	})
}

// accepts reports whether the security groups of a member's port admit the packet, sent
// from the client itself with the driver ovn, and else from the load balancer's subnet.
func (f *forwarder) accepts(lb, m Object, protocol string, client netip.Addr) bool {
	if f.guarded == "" {
		return true
	}
	at, _ := m.Number("protocol_port")
	from := client
	if lb.Text("provider") != "ovn" {
		subnet, _ := f.state.Get(subnets, cmp.Or(m.Text("subnet_id"), lb.Text("vip_subnet_id")))
		r, err := netip.ParsePrefix(subnet.Text("cidr"))
		if err != nil {
			return false
		}
		from = r.Masked().Addr().Next()
	}
	for _, port := range f.state.All(ports, nil) {
		if !slices.ContainsFunc(port.Objects("fixed_ips"), func(ip Object) bool { return ip.Text("ip_address") == m.Text("address") }) {
			continue
		}
		for _, id := range port.Texts("security_groups") {
			group, _ := f.state.Get(groups, id)
			if !strings.HasPrefix(group.Text("name"), f.guarded) {
				continue
			}
			if slices.ContainsFunc(f.state.Having(rules, "security_group_id", id), func(r Object) bool { return admitsPacket(r, protocol, at, from) }) {
				return true
			}
		}
	}
	return false
}

func admitsPacket(r Object, protocol string, port int, from netip.Addr) bool {
	low, bounded := r.Number("port_range_min")
	high, _ := r.Number("port_range_max")
	text := r.Text("remote_ip_prefix")
	return r.Text("direction") == "ingress" && (r.Text("protocol") == "" || strings.EqualFold(r.Text("protocol"), protocol)) &&
		(!bounded || low <= port && port <= high) && r.Text("remote_group_id") == "" && (text == "" || admitsClient([]string{text}, from))
}
