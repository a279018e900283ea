package model

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// ContentOf reads a rule that is ours by name and priority. Rules with ranges of
// ports are not made here and are left alone.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/securitygroup/securitygroup.go.
func ContentOf(r Object) (Access, bool) {
	p, name := r.Props(), r.Text("name")
	priority := p.number("priority")
	if !strings.HasPrefix(name, rulePrefix) || priority < firstPriority || priority > lastPriority || !strings.EqualFold(p.Text("direction"), "Inbound") {
		return Access{}, false
	}
	a := Access{Protocol: p.enum("protocol", probeTCP, "Udp"), Family: ipv4}
	if strings.Contains(name, "_"+IPv6) {
		a.Family = IPv6
	}
	if strings.HasPrefix(name, denyPrefix) {
		a.Deny, a.Rule = true, denyName(a.Family)
		return a, strings.EqualFold(p.Text("access"), "Deny")
	}
	a.Sources, a.Ports = prefixField(r, "sourceAddressPrefix"), portsOf(p)
	for _, port := range a.Ports {
		if strings.ContainsAny(port, "-*") {
			return Access{}, false
		}
	}
	slices.Sort(a.Sources)
	slices.Sort(a.Ports)
	a.Rule = allowName(a.Family, a.Protocol, a.Sources, a.Ports)
	return a, strings.EqualFold(p.Text("access"), "Allow")
}

func portsOf(p Object) []string {
	out := p.Texts("destinationPortRanges")
	if one := p.Text("destinationPortRange"); one != "" {
		out = append(out, one)
	}
	return out
}

// prefixField reads a field that has a singular and a plural form.
func prefixField(r Object, field string) []string {
	out := r.Props().Texts(field + "es")
	if one := r.Props().Text(field); one != "" {
		out = append(out, one)
	}
	return out
}

// Destinations are the addresses to which a rule lets in.
func Destinations(r Object) []string { return prefixField(r, "destinationAddressPrefix") }

// AccessSeeker is whose entries are looked for in a security group.
type AccessSeeker struct {
	Own    map[string]bool // addresses that only this Service has
	Shared map[string]bool // addresses that it has with other Services
	Nodes  map[string]bool // addresses of nodes
	InUse  map[string]bool // every address in use, those above included; see SeekerOf
	// Served lists what the rules of all owners forward, by the address of their frontend.
	Served map[string][]ServedPort
	Asked  map[string]bool // addresses that the scope asked for
	Rules  []Rule          // that the Service has, with the address in place of the frontend's name
	Going  bool            // the Service is being released
}

// SeekerOf gathers the addresses of the Service with the base name.
//
// In use are the addresses of nodes and frontends, of public IPs that a controller created,
// and of public IPs on load balancers of others. A public IP of the user that the Service
// has left carries no trace of the Service: its entries are found because no frontend has
// the address, or no rule of a frontend the port. The ledger retains entries of Services that
// want them without a frontend or rule.
func SeekerOf(c Config, base string, entries []Entries, balancers []FoundBalancer, publicIPs []FoundIP, nodes, asked []string, owner stack.Owner) AccessSeeker {
	s := AccessSeeker{Own: map[string]bool{}, Shared: map[string]bool{}, Nodes: map[string]bool{}, InUse: map[string]bool{}, Asked: map[string]bool{}, Served: map[string][]ServedPort{}}
	for _, ip := range publicIPs {
		if ip.Managed() || ip.Cluster != "" || ip.onOther(c, balancers) {
			s.InUse[ip.Address] = true
		}
		if slices.Contains(ip.Services, ServiceKey(owner)) {
			s.have(ip.Address, len(ip.Services) > 1)
		}
	}
	s.addFrontends(base, balancers)
	for _, e := range entries {
		for _, r := range e.Rules {
			for _, f := range e.Frontends {
				if strings.EqualFold(f.Name, r.Frontend) {
					r.Frontend = f.Address
				}
			}
			s.Rules = append(s.Rules, r)
		}
	}
	for _, n := range nodes {
		s.Nodes[n], s.InUse[n] = true, true
	}
	for _, a := range asked {
		s.Asked[a] = true
	}
	return s
}

// addFrontends adds the addresses of all frontends, and which of them the Service with the base
// name has.
func (s AccessSeeker) addFrontends(base string, balancers []FoundBalancer) {
	for _, lb := range balancers {
		for _, f := range lb.Frontends {
			s.InUse[f.Address] = true
			s.Served[f.Address] = append(s.Served[f.Address], f.Serves...)
			mine := ownedBy(base, f.Name) || slices.ContainsFunc(f.Users, func(r string) bool { return ownedBy(base, r) })
			if mine {
				s.have(f.Address, !ownedBy(base, f.Name) || slices.ContainsFunc(f.Users, func(r string) bool { return !ownedBy(base, r) }))
			}
		}
	}
}

func (s AccessSeeker) have(address string, shared bool) {
	if address == "" {
		return
	}
	if shared || s.Shared[address] {
		s.Shared[address] = true
		delete(s.Own, address)
		return
	}
	s.Own[address] = true
}

// AccessOf lists the entries of a security group that concern the Service.
func AccessOf(c Config, nsg Object, who AccessSeeker) []stack.Resource {
	var out []stack.Resource
	in := securityKey(c.securityGroup(), c.Security)
	seen := map[stack.Key]bool{}
	for _, r := range nsg.Props().List(ListSecurity) {
		a, ok := ContentOf(r)
		if !ok {
			continue
		}
		a.Group, a.Security = c.securityGroup(), c.Security
		for _, d := range Destinations(r) {
			a.Destination = Canonical(d)
			key := accessKey(a.Rule, a.Destination)
			proof, concerns := who.proof(a)
			a.Alone = who.Own[a.Destination] || who.leftover(a.Destination)
			if concerns && !seen[key] {
				seen[key] = true
				out = append(out, stack.Resource{Key: key, ID: r.Text("id"), In: in, Ownership: stack.Shared, Proof: proof, Spec: a})
			}
		}
	}
	return out
}

// leftover reports whether an address was a frontend's and is no longer in use: a Service
// that cannot be read has its frontends, and asks for public addresses beside them only.
func (s AccessSeeker) leftover(address string) bool {
	at, err := netip.ParseAddr(address)
	return err == nil && at.IsPrivate() && !s.InUse[address]
}

// unserved reports whether an allow entry is for a frontend without a rule for it. An entry
// that precedes its rule is desired by the Service that moves there, and the ledger retains it.
func (s AccessSeeker) unserved(a Access) bool {
	served, known := s.Served[a.Destination]
	return known && !a.Deny && !slices.ContainsFunc(served, func(p ServedPort) bool { return a.admits(p.Protocol, p.Port) })
}

// unservedAtNodes reports whether an allow entry is for the address of a node, and no rule of
// any owner sends to a port of the nodes that the entry is for.
func (s AccessSeeker) unservedAtNodes(a Access) bool {
	if !s.Nodes[a.Destination] || a.Deny {
		return false
	}
	for _, list := range s.Served {
		if slices.ContainsFunc(list, func(p ServedPort) bool { return p.NodePort != 0 && a.admits(p.Protocol, p.NodePort) }) {
			return false
		}
	}
	return true
}

// takenByOthers reports whether an allow entry is for a frontend of other Services that the
// Service asked for and did not get. The ledger retains the entries of the others.
func (s AccessSeeker) takenByOthers(a Access) bool {
	_, known := s.Served[a.Destination]
	return known && s.Asked[a.Destination] && !a.Deny
}

// proof returns why the Service may delete an entry that no Service wants any more. An
// entry of an address or port no longer in use is a leftover; the official controller removes
// entries of such addresses from its rules at every change.
func (s AccessSeeker) proof(a Access) (stack.Proof, bool) {
	d := a.Destination
	if _, err := netip.ParseAddr(d); err != nil {
		return stack.None, false
	}
	switch {
	case s.Own[d], s.Shared[d] && (a.Deny || s.serves(a)), s.Nodes[d] && s.ofNodes(a):
		return stack.Derived, true
	case !s.InUse[d], s.unserved(a), s.unservedAtNodes(a), !s.sendsFrom(d) && s.takenByOthers(a):
		return stack.Leftover, true
	}
	return stack.None, s.Asked[d] || s.Nodes[d] && slices.ContainsFunc(s.Rules, toNode)
}

// ofNodes reports whether an entry for a node is the Service's too: its packets arrive with
// the nodes' own addresses. Where nodes have both families, the official controller enters
// both of them for a Service of one; those entries are retained until the Service is
// deleted, so that taking over writes nothing. Internal rules of IPv6 are no evidence,
// since none of them has a floating address. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func (s AccessSeeker) ofNodes(a Access) bool {
	tells := func(r Rule) bool {
		six := strings.HasSuffix(lowerCase(r.Pool), lowerCase(SuffixIPv6))
		at, err := netip.ParseAddr(r.Frontend)
		internal := err == nil && at.IsPrivate()
		return toNode(r) && (s.Going || six == (a.Family == IPv6) && !(six && internal))
	}
	return slices.ContainsFunc(s.Rules, tells) && (a.Deny || s.serves(a))
}

// toNode reports whether a rule replaces the frontend's address by the node's. The rule for
// all ports never does, although in IPv6 it has no floating address.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func toNode(r Rule) bool { return !r.FloatingIP && r.BackendPort != 0 }

// sendsFrom reports whether a rule of the Service is on a frontend with the address.
func (s AccessSeeker) sendsFrom(address string) bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Frontend == address })
}

// serves reports whether a rule of the Service needs the entry: on a frontend for its port,
// or on nodes for its node port.
func (s AccessSeeker) serves(a Access) bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool {
		port, node := r.FrontendPort, s.Nodes[a.Destination]
		if node {
			port = r.BackendPort
		}
		if node && !toNode(r) || !node && r.Frontend != a.Destination {
			return false
		}
		return a.admits(r.Protocol, port)
	})
}

// admits reports whether the entry is for a port of a rule. Port 0 is every port.
func (a Access) admits(protocol string, port int32) bool {
	same := protocol == protocolAll || a.Protocol == "*" || strings.EqualFold(protocol, a.Protocol)
	return same && (port == 0 || slices.Contains(a.Ports, string(jsonNumber(port))))
}
