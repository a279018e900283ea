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
	b.out.Put(stack.Resource{Key: rulesKey(), In: groupKey(), Spec: GroupRules{Rules: b.groupRules()}})
	b.out.Put(stack.Resource{Key: groupPortsKey(), In: groupKey(), Spec: GroupPorts{Ports: nodePorts(in, b.facts, b.subnet)}})
}

// groupRules let traffic in at the node ports, and at the port of the health check: from
// where the load balancer reaches the members, or from all clients with a driver that
// keeps their addresses.
func (b *builder) groupRules() []GroupRule {
	in := b.in
	from := b.senders()
	clients := from
	if !driverOf(in.Config.Provider).Proxies {
		clients = nodeports.Prefixes(ranges(in)...)
	}
	var out []GroupRule
	for _, p := range in.Backends.Ports {
		if in.Ended() {
			break
		}
		if p.NodePort != 0 {
			out = append(out, rulesFor(strings.ToLower(string(p.Protocol)), p.NodePort, clients)...)
		}
	}
	if check := in.Service.Spec.HealthCheckNodePort; check != 0 {
		out = append(out, rulesFor("tcp", check, from)...)
	}
	slices.SortFunc(out, GroupRule.Compare)
	return slices.Compact(out)
}

// senders are the subnets from which the load balancer reaches members: the one that is
// said or found, or those of the network that alone is said.
func (b *builder) senders() []netip.Prefix {
	if s, ok := b.facts.Subnets[b.subnet]; ok {
		return []netip.Prefix{s.CIDR}
	}
	network, _ := vip(b.in)
	var out []netip.Prefix
	for _, s := range b.facts.NetworkSubnets[network] {
		if s.CIDR.Addr().Is6() == ipv6(b.in) {
			out = append(out, s.CIDR)
		}
	}
	if len(out) == 0 {
		b.problems.Refuse(memberSubnetKey.Name, b.subnet, "is needed to let the load balancer reach the nodes (manage-security-groups of the configuration), but no such subnet can be found", "the id of a subnet")
	}
	return out
}

func rulesFor(protocol string, port int32, from []netip.Prefix) []GroupRule {
	var out []GroupRule
	for _, p := range from {
		r := GroupRule{Direction: "ingress", Family: "IPv4", Protocol: protocol, Port: port, Remote: p.Masked().String()}
		if p.Addr().Is6() {
			r.Family = "IPv6"
		}
		out = append(out, r)
	}
	return out
}

// Compare orders rules.
func (r GroupRule) Compare(o GroupRule) int {
	return cmp.Or(strings.Compare(r.Direction, o.Direction), strings.Compare(r.Family, o.Family), strings.Compare(r.Protocol, o.Protocol), cmp.Compare(r.Port, o.Port), strings.Compare(r.Remote, o.Remote))
}

// nodePorts are the ids of the ports of nodes that have their addresses, in the subnet
// of the members where one is said. One without port security takes no groups.
func nodePorts(in Input, facts *Facts, subnet string) []string {
	var out []string
	for node := range in.Backends.Nodes.All() {
		address, ok := node.Address(family(in))
		if !ok {
			continue
		}
		for _, p := range facts.NodePorts[ServerID(node)] {
			if p.Address == address.String() && p.Secured && (subnet == "" || p.Subnet == subnet) {
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
