package compute

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// Passage is one packet that reaches machines: from a client to a port of an address.
type Passage struct {
	Source, Address netip.Addr
	Protocol        string // TCP, UDP
	Port            int
	Machines        []string // names, in order
}

// Forwards sends packets through the forwarding rules and firewalls of the project as they
// are now, and returns the packets that reach machines. Clients are the first address of every
// source range of a firewall, and the one behind its last.
// Sources: Cloud Load Balancing documentation, passthrough Network Load Balancers: the
// packet reaches the machine with the address and port of the rule. Virtual Private Cloud
// documentation, firewall rules: the lowest priority number decides, and a denial before
// an admission of the same number; what no rule admits is denied.
func (a *API) Forwards() []Passage {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := &call{Request: &wire.Request{Now: a.opt.Clock.Now().UTC()}, api: a, st: a.st}
	filters := c.listFilters()
	var out []Passage
	for _, p := range makePackets(filters) {
		rule := c.findRule(p)
		if rule == nil {
			continue
		}
		for _, machine := range c.machinesBehind(rule) {
			if admitsPacket(filters, p, machine) {
				p.Machines = append(p.Machines, machine.ref.Name)
			}
		}
		if len(p.Machines) > 0 {
			slices.Sort(p.Machines)
			p.Machines = slices.Compact(p.Machines)
			out = append(out, p)
		}
	}
	return out
}

// listFilters returns the firewalls of all projects, the stronger first.
func (c *call) listFilters() []wire.Object {
	var out []wire.Object
	c.st.each("firewalls", func(e *entry) bool {
		out = append(out, e.doc)
		return true
	})
	slices.SortFunc(out, func(x, y wire.Object) int {
		denies := func(o wire.Object) int {
			if o.Has("denied") {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.Num("priority"), y.Num("priority")), cmp.Compare(denies(x), denies(y)), cmp.Compare(x.Text("name"), y.Text("name")))
	})
	return out
}

// target is a port of an address.
type target struct {
	address  netip.Addr
	protocol string
	port     int
}

// makePackets returns one for every client, and every port and destination that a firewall names.
func makePackets(filters []wire.Object) []Passage {
	clients, targets := map[netip.Addr]bool{}, map[target]bool{}
	for _, f := range filters {
		for _, text := range f.Texts("sourceRanges") {
			if r, err := netip.ParsePrefix(text); err == nil {
				clients[r.Masked().Addr()] = true
				if next := sim.LastAddress(r).Next(); next.IsValid() {
					clients[next] = true
				}
			}
		}
		for _, to := range f.Texts("destinationRanges") {
			text, _, _ := strings.Cut(to, "/")
			address, err := netip.ParseAddr(text)
			for _, allowed := range f.Objects("allowed") {
				for _, span := range allowed.Texts("ports") {
					low, high, ok := portRange(span)
					for port := low; ok && err == nil && port <= high; port++ {
						targets[target{address, strings.ToUpper(allowed.Text("IPProtocol")), port}] = true
					}
				}
			}
		}
	}
	var out []Passage
	for t := range targets {
		for client := range clients {
			if client.Is4() == t.address.Is4() {
				out = append(out, Passage{Source: client, Address: t.address, Protocol: t.protocol, Port: t.port})
			}
		}
	}
	slices.SortFunc(out, func(a, b Passage) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), a.Source.Compare(b.Source))
	})
	return out
}

// findRule returns the forwarding rule that gets the packet: one for the protocol before one for
// all of IP.
func (c *call) findRule(p Passage) *entry {
	var found, whole *entry
	c.st.each("forwardingRules", func(e *entry) bool {
		text, _, _ := strings.Cut(e.doc.Text("IPAddress"), "/")
		address, err := netip.ParseAddr(text)
		switch protocol := e.doc.Text("IPProtocol"); {
		case err != nil || address != p.Address:
		case protocol == "L3_DEFAULT":
			whole = e
		case protocol == p.Protocol && slices.ContainsFunc(portRanges(e.doc), func(r [2]int) bool { return r[0] <= p.Port && p.Port <= r[1] }):
			found = e
		}
		return true
	})
	if found == nil {
		return whole
	}
	return found
}

// machinesBehind are the instances of the target pool, or of the groups of the backend service.
func (c *call) machinesBehind(rule *entry) []*entry {
	var out []*entry
	add := func(machine *entry) {
		if machine != nil {
			out = append(out, machine)
		}
	}
	if pool := c.follow(rule.doc.Text("target"), "targetPools"); pool != nil {
		for _, url := range pool.doc.Texts("instances") {
			add(c.follow(url, "instances"))
		}
	}
	service := c.follow(rule.doc.Text("backendService"), "backendServices")
	if service == nil {
		return out
	}
	for _, backend := range service.doc.Objects("backends") {
		for _, collection := range []string{"instanceGroups", "networkEndpointGroups"} {
			group := c.follow(backend.Text("group"), collection)
			if group == nil {
				continue
			}
			for _, m := range group.members {
				if m.leaves.IsZero() {
					add(c.st.get(m.instance))
				}
			}
		}
	}
	return out
}

// admitsPacket reports whether the first firewall that the packet to the machine matches lets it in.
func admitsPacket(filters []wire.Object, p Passage, machine *entry) bool {
	for _, f := range filters {
		if f.Text("direction") == "EGRESS" || f.Truth("disabled") || !appliesTo(f, machine) || !containsAddress(f.Texts("sourceRanges"), p.Source) {
			continue
		}
		if to := f.Texts("destinationRanges"); len(to) > 0 && !containsAddress(to, p.Address) {
			continue
		}
		if matchesPacket(f.Objects("denied"), p) {
			return false
		}
		if matchesPacket(f.Objects("allowed"), p) {
			return true
		}
	}
	return false
}

// appliesTo reports whether the firewall is for the machine: for all of the network, or for its tags.
func appliesTo(f wire.Object, machine *entry) bool {
	tags := f.Texts("targetTags")
	for _, nic := range machine.doc.Objects("networkInterfaces") {
		if nic.Text("network") == f.Text("network") {
			return len(tags) == 0 || slices.ContainsFunc(machine.doc.Object("tags").Texts("items"), func(tag string) bool { return slices.Contains(tags, tag) })
		}
	}
	return false
}

func containsAddress(list []string, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(text string) bool {
		if !strings.Contains(text, "/") {
			one, err := netip.ParseAddr(text)
			return err == nil && one == a
		}
		r, err := netip.ParsePrefix(text)
		return err == nil && r.Contains(a)
	})
}

func matchesPacket(entries []wire.Object, p Passage) bool {
	return slices.ContainsFunc(entries, func(e wire.Object) bool {
		protocol := e.Text("IPProtocol")
		if protocol != "all" && !strings.EqualFold(protocol, p.Protocol) {
			return false
		}
		spans := e.Texts("ports")
		return len(spans) == 0 || slices.ContainsFunc(spans, func(span string) bool {
			low, high, ok := portRange(span)
			return ok && low <= p.Port && p.Port <= high
		})
	})
}
