package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// groups wants a security group for the nodes that lets in what the load balancer sends
// them, where the configuration says so.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (ensureSecurityGroup).
func (b *builder) groups() {
	in := b.in
	if !in.Config.ManageGroups {
		return
	}
	b.out.Put(stack.Resource{Key: groupKey(), Spec: Group{Name: GroupName(in.Owner), Description: groupDescription(in.Cluster, in.Owner)}})
	b.out.Put(stack.Resource{Key: rulesKey(), In: groupKey(), Spec: b.markRules(GroupRules{Rules: b.groupRules()})})
	b.out.Put(stack.Resource{Key: groupPortsKey(), In: groupKey(), Spec: GroupPorts{Ports: b.nodePorts()}})
}

// groupRules returns rules that admit traffic at the node ports and at the port of the
// health check: from the subnets of the members, or from all clients with a driver that
// keeps their addresses.
func (b *builder) groupRules() []GroupRule {
	in := b.in
	from := b.senders()
	var out []GroupRule
	for _, p := range in.Backends.Ports {
		if in.Ended() {
			break
		}
		if p.NodePort == 0 {
			continue
		}
		clients := from
		if !driverOf(in.Config.Provider).Proxies {
			clients = nodeports.Prefixes(clientRanges(in)...)
		}
		out = append(out, rulesFor(strings.ToLower(string(p.Protocol)), p.NodePort, clients)...)
	}
	if check := in.Service.Spec.HealthCheckNodePort; check != 0 {
		out = append(out, rulesFor("tcp", check, from)...)
	}
	slices.SortFunc(out, GroupRule.Compare)
	return slices.Compact(out)
}

// senders returns the ranges from which the load balancer reaches its members: those of
// the subnets that found members are in and new ones will be in.
func (b *builder) senders() []netip.Prefix {
	var out []netip.Prefix
	unknown := ""
	add := func(subnet string, ranges map[string]netip.Prefix) {
		found := b.rangesOf(subnet, ranges)
		if len(found) == 0 {
			unknown = cmp.Or(subnet, "none")
		}
		out = append(out, found...)
	}
	for _, spec := range stack.Each[Members](b.out, KindMembers) {
		for _, m := range spec.Members {
			add(m.Subnet, spec.Ranges)
		}
	}
	if len(out) == 0 {
		add(b.subnet, nil)
	}
	if unknown != "" {
		b.problems.Refuse(memberSubnetKey.Name, unknown, "is needed to let the load balancer reach the nodes (manage-security-groups of the configuration), but the subnet is not found, or the controller's credentials may not read it", "the id of a subnet")
	}
	slices.SortFunc(out, func(p, q netip.Prefix) int { return strings.Compare(p.String(), q.String()) })
	return slices.Compact(out)
}

// rangesOf returns the addresses of a subnet. Without a subnet they are those of the
// load balancer's network, in the family that is served.
func (b *builder) rangesOf(subnet string, known map[string]netip.Prefix) []netip.Prefix {
	p, ok := known[subnet]
	if s, fact := b.facts.Subnets[subnet]; fact {
		p, ok = s.CIDR, true
	}
	if ok && subnet != "" {
		return []netip.Prefix{p}
	}
	network, _ := vipPlace(b.in)
	if spec, _, there := b.found(); there {
		network = spec.Network
	}
	var out []netip.Prefix
	for _, s := range b.facts.NetworkSubnets[network] {
		if s.CIDR.Addr().Is6() == ipv6(b.in) {
			out = append(out, s.CIDR)
		}
	}
	if len(out) == 0 && ok {
		out = append(out, p)
	}
	return out
}

func rulesFor(protocol string, port int32, from []netip.Prefix) []GroupRule {
	var out []GroupRule
	for _, p := range from {
		r := GroupRule{Direction: "ingress", Family: "IPv4", Protocol: protocol, Port: port, Last: port, Remote: p.Masked().String()}
		if p.Addr().Is6() {
			r.Family = "IPv6"
		}
		out = append(out, r)
	}
	return out
}

// Compare orders rules.
func (r GroupRule) Compare(o GroupRule) int {
	return cmp.Or(strings.Compare(r.Direction, o.Direction), strings.Compare(r.Family, o.Family), strings.Compare(r.Protocol, o.Protocol), cmp.Compare(r.Port, o.Port), cmp.Compare(r.Last, o.Last), strings.Compare(r.Remote, o.Remote))
}

// nodePorts returns the ids of the nodes' ports that members are reached at. A port in the
// member's own subnet is preferred to one of another network with the same address. A port
// without port security takes no groups.
func (b *builder) nodePorts() []string {
	subnets := map[string]string{} // of members, by address
	for _, spec := range stack.Each[Members](b.out, KindMembers) {
		for _, m := range spec.Members {
			subnets[m.Address] = m.Subnet
		}
	}
	var out []string
	for node := range b.in.Backends.Nodes.All() {
		address, ok := node.Address(ipFamily(b.in))
		if !ok {
			continue
		}
		subnet, member := subnets[address.String()]
		if !member {
			subnet = b.subnet
		}
		having := slices.DeleteFunc(slices.Clone(b.facts.NodePorts[ServerID(node)]), func(p NodePort) bool { return p.Address != address.String() || !p.Secured })
		inside := slices.ContainsFunc(having, func(p NodePort) bool { return p.Subnet == subnet })
		for _, p := range having {
			if !inside || p.Subnet == subnet {
				out = append(out, p.ID)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ServerID is the id of a node's server in its provider id: openstack:///<id>, or with
// the region before the last slash.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/instances.go.
func ServerID(node nodeports.Node) string {
	return node.ProviderID[strings.LastIndex(node.ProviderID, "/")+1:]
}
