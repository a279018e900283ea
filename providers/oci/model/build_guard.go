package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

func groupKey() stack.Key    { return stack.Key{Kind: KindGroup} }
func ownRulesKey() stack.Key { return stack.Key{Kind: KindGroupRules, Name: "own"} }

// guard wants the rules that let clients and health checks through.
func (b *builder) guard() {
	kept := ruleMode(b.in)
	if kept == modeNone {
		b.unguarded()
		return
	}
	for _, p := range b.in.Backends.Ports {
		if p.Protocol != corev1.ProtocolTCP {
			b.problems.Refuse("spec.ports", p.String(), "gets no security rules, which are kept for TCP only", "TCP, or "+ruleModeKey.Name+": None with rules of your own")
			return
		}
	}
	if kept == modeGroup {
		b.groups()
		b.noteGuards(GroupGuards(backendGroupsKey.Get(b.in.Values)))
		return
	}
	nodes := b.lists(kept == modeAll)
	b.noteGuards(ListGuards(b.subnets, nodes))
}

// noteGuards completes the load balancer with where its rules are managed.
func (b *builder) noteGuards(guards []Guard) {
	r, _ := b.out.Get(b.product.key())
	if spec, is := r.Spec.(Balancer); is {
		spec.Guards = guards
		r.Spec = spec
		b.out.Put(r)
	}
}

// ListGuards returns the security lists of the subnets of a load balancer, and of its nodes.
func ListGuards(front, nodes []Subnet) []Guard {
	var out []Guard
	for i, s := range slices.Concat(front, nodes) {
		if s.List == "" {
			continue
		}
		g := Guard{ID: s.List, Front: i < len(front)}
		if s.CIDR.IsValid() {
			g.CIDRs = append(g.CIDRs, s.CIDR.Masked().String())
		}
		for _, p := range s.CIDR6 {
			g.CIDRs = append(g.CIDRs, p.Masked().String())
		}
		out = append(out, g)
	}
	return out
}

// GroupGuards returns the groups of nodes that have rules for the Service.
func GroupGuards(ids []string) []Guard {
	var out []Guard
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		out = append(out, Guard{ID: id})
	}
	return out
}

// unguarded tells of ranges that nothing keeps.
func (b *builder) unguarded() {
	if _, source, _ := nodeports.SourceRanges(b.in.Service); source != nodeports.RangesFromDefault {
		b.problems.Warn(string(source), "", "has no effect: no security rules are kept for the Service", ruleModeKey.Name+": SL-All, SL-Frontend or NSG")
	}
}

// The ranges that admit every client.
const (
	everybody  = "0.0.0.0/0"
	everybody6 = "::/0"
)

// ranges returns the ranges of the permitted clients. The default is all of IPv4, which is
// also what a Service without ranges has, so it is widened to the families of the Service.
// Any other list is kept as written.
// Source: load_balancer_spec.go (getLoadBalancerSourceRanges).
func (b *builder) ranges() []string {
	list, _, _ := nodeports.SourceRanges(b.in.Service)
	var out []string
	for _, p := range list {
		out = append(out, p.Masked().String())
	}
	families := b.in.Backends.Families
	if len(out) == 1 && out[0] == everybody && slices.Contains(families, corev1.IPv6Protocol) {
		out = append(out, everybody6)
		if len(families) == 1 {
			out = out[1:]
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// targets are the ports of nodes that the load balancer sends to.
func (b *builder) targets() []int32 {
	out := []int32{healthPort(b.in)}
	return append(out, b.nodePorts()...)
}

func (b *builder) nodePorts() []int32 {
	var out []int32
	for _, p := range b.in.Backends.Ports {
		if p.NodePort != 0 {
			out = append(out, p.NodePort)
		}
	}
	return out
}

// lists wants rules in the security lists of the load balancer's subnets, and with whole
// of the nodes' subnets, which it returns.
// Source: load_balancer_security_lists.go.
func (b *builder) lists(whole bool) (nodes []Subnet) {
	if whole {
		nodes = b.nodeSubnets()
	}
	for _, front := range b.subnets {
		for _, p := range b.in.Backends.Ports {
			if b.in.Ended() {
				return nodes
			}
			for _, from := range b.ranges() {
				b.entry(front, Ingress, from, p.Port)
			}
		}
		for _, behind := range nodes {
			for _, port := range b.targets() {
				if b.in.Ended() {
					return nodes
				}
				for _, cidr := range b.cidrs(behind) {
					b.entry(front, Egress, cidr, port)
				}
				for _, cidr := range b.cidrs(front) {
					b.entry(behind, Ingress, cidr, port)
				}
			}
		}
	}
	if preservesSource(b.in) {
		b.clients(nodes)
	}
	return nodes
}

// clients lets the Service's clients reach the nodes, which see their addresses.
func (b *builder) clients(nodes []Subnet) {
	for _, behind := range nodes {
		for _, port := range b.nodePorts() {
			if b.in.Ended() {
				return
			}
			for _, from := range b.ranges() {
				b.entry(behind, Ingress, from, port)
			}
		}
	}
}

// cidrs are a subnet's ranges of the families by which the load balancer reaches nodes.
// Source: load_balancer_security_lists.go (getNodeIngressRules, getLoadBalancerEgressRules).
func (b *builder) cidrs(s Subnet) []string {
	var out []string
	families := b.familiesOf()
	if slices.Contains(families, corev1.IPv4Protocol) && s.CIDR.IsValid() {
		out = append(out, s.CIDR.Masked().String())
	}
	if slices.Contains(families, corev1.IPv6Protocol) {
		for _, p := range s.CIDR6 {
			out = append(out, p.Masked().String())
		}
	}
	return out
}

// nodeSubnets are those of the nodes, in order.
func (b *builder) nodeSubnets() []Subnet {
	var addresses []netip.Addr
	var lost []string
	vcn := b.subnets[0].VCN
	for node := range b.in.Backends.Nodes.All() {
		for _, f := range b.familiesOf() {
			address, ok := node.Address(f)
			if !ok {
				continue
			}
			addresses = append(addresses, address)
			if len(Of(b.facts.Machines, vcn, []netip.Addr{address})) == 0 {
				lost = append(lost, node.Name)
			}
		}
	}
	if len(lost) > 0 {
		b.problems.Warn("nodes", strings.Join(slices.Compact(lost), ", "), "are in no subnet of the load balancer's network that can be found, so their security lists get no rules", "")
	}
	return Of(b.facts.Machines, vcn, addresses)
}

// entry wants one rule.
func (b *builder) entry(in Subnet, direction, peer string, port int32) {
	if in.List == "" {
		return // Build has reported that the subnet was not found
	}
	e := Entry{List: in.List, Direction: direction, Peer: peer, Port: port}
	b.out.Put(stack.Resource{Key: e.Key(), Ownership: stack.Shared, Spec: e})
}

// Key is the key of a rule, which says all of it.
func (e Entry) Key() stack.Key {
	return stack.Key{Kind: KindEntry, Name: fmt.Sprintf("%s/%s/%s/%d", e.List, strings.ToLower(e.Direction), e.Peer, e.Port)}
}

// groups wants a network security group of the Service's own, with its rules, and rules
// in those of the nodes.
// Source: load_balancer_network_security_group.go.
func (b *builder) groups() {
	in := b.in
	vcn := cmp.Or(in.Config.VCN, b.subnets[0].VCN)
	b.out.Put(stack.Resource{Key: groupKey(), Spec: Group{Name: GroupName(in.Owner), Compartment: compartmentOf(in), VCN: vcn, Tags: GroupTags(in.Owner)}})
	backends := slices.Sorted(slices.Values(backendGroupsKey.Get(in.Values)))
	b.known(backendGroupsKey, backends, func(g string) bool {
		_, ruled := b.have.Get(stack.Key{Kind: KindGroupRules, Name: g})
		return ruled
	})
	own := GroupRules{Group: stack.RefTo(groupKey())}
	for _, p := range in.Backends.Ports {
		if in.Ended() {
			break
		}
		for _, from := range b.ranges() {
			own.Rules = append(own.Rules, GroupRule{Direction: Ingress, Peer: from, Port: p.Port})
		}
	}
	for _, g := range backends {
		rules := GroupRules{Group: stack.RefID(g)}
		for _, port := range b.targets() {
			own.Rules = append(own.Rules, GroupRule{Direction: Egress, Peer: g, Port: port})
			rules.Rules = append(rules.Rules, GroupRule{Direction: Ingress, Of: stack.RefTo(groupKey()), Port: port})
		}
		if preservesSource(in) {
			for _, port := range b.nodePorts() {
				for _, from := range b.ranges() {
					rules.Rules = append(rules.Rules, GroupRule{Direction: Ingress, Peer: from, Port: port})
				}
			}
		}
		slices.SortFunc(rules.Rules, GroupRule.Compare)
		b.out.Put(stack.Resource{Key: stack.Key{Kind: KindGroupRules, Name: g}, Spec: rules})
	}
	if len(backends) == 0 {
		b.problems = append(b.problems, backendGroupsKey.Warning(in.Values, "is not said: the nodes must let the load balancer in by rules of their own", "the OCIDs of the groups that the nodes are in"))
	}
	slices.SortFunc(own.Rules, GroupRule.Compare)
	b.out.Put(stack.Resource{Key: ownRulesKey(), In: groupKey(), Spec: own})
}

// Compare orders rules.
func (r GroupRule) Compare(o GroupRule) int {
	return cmp.Or(strings.Compare(r.Direction, o.Direction), strings.Compare(r.Peer, o.Peer), r.Of.Compare(o.Of), cmp.Compare(r.Port, o.Port))
}
