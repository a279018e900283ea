package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// networkNodeRules lets in, on the nodes: the health checks from the subnets of
// the load balancer, the clients themselves, whose addresses it preserves, and
// for each range of clients the ICMP messages about packet sizes.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go (updateInstanceSecurityGroupsForNLB).
func (b *builder) networkNodeRules(ports []nodeports.ServicePort, mappings []Mapping) {
	if len(b.groups) == 0 || len(ports) == 0 {
		return
	}
	protocol := "tcp"
	var clientPorts, checkPorts []int32
	for _, p := range ports {
		if p.Protocol == corev1.ProtocolUDP {
			protocol = "udp"
		}
		clientPorts = append(clientPorts, p.NodePort)
		checkPorts = append(checkPorts, checkedPort(b.in, p.NodePort))
	}
	clientPorts, checkPorts = sortedSet(clientPorts), sortedSet(checkPorts)
	for _, group := range b.groups {
		if !b.checksAreClients(protocol, clientPorts, checkPorts) {
			b.putPorts(group, "tcp", checkPorts, b.subnetRanges(mappings), HealthDescription(b.lb))
		}
		b.putPorts(group, protocol, clientPorts, b.ranges, ClientDescription(b.lb))
		for _, cidr := range b.ranges {
			b.putNodeRule(NodeRule{Group: group, Permission: sizeRule(cidr), Description: RuleMTU}, "")
		}
	}
}

// checkedPort is the port on the nodes that the health check asks.
func checkedPort(in input, nodePort int32) int32 {
	if n, err := strconv.ParseInt(networkCheck(in).port, 10, 32); err == nil {
		return int32(n)
	}
	return nodePort
}

// checksAreClients reports whether the rules for clients let the checks in too.
func (b *builder) checksAreClients(protocol string, clientPorts, checkPorts []int32) bool {
	return protocol == "tcp" && slices.Equal(b.ranges, []string{"0.0.0.0/0"}) && slices.Equal(clientPorts, checkPorts)
}

func (b *builder) putPorts(group, protocol string, ports []int32, ranges []string, description string) {
	for _, port := range ports {
		if b.in.Ended() {
			return
		}
		for _, cidr := range ranges {
			p := Permission{Protocol: protocol, FromPort: port, ToPort: port, CIDR: cidr}
			b.putNodeRule(NodeRule{Group: group, Permission: p, Description: description}, "")
		}
	}
}

// subnetRanges are the addresses that a load balancer in the subnets can have.
func (b *builder) subnetRanges(mappings []Mapping) []string {
	var out, unknown []string
	for _, m := range mappings {
		i := slices.IndexFunc(b.facts.Subnets, func(s Subnet) bool { return s.ID == m.Subnet })
		if i < 0 || b.facts.Subnets[i].CIDR == "" {
			unknown = append(unknown, m.Subnet)
			continue
		}
		out = append(out, b.facts.Subnets[i].CIDR)
	}
	if len(unknown) > 0 {
		b.report(annotations.ProblemOf("subnets of the load balancer", "", "are not listed by AWS: "+shortList(unknown)+", so health checks from there are not let in", "", annotations.Warning))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sortedSet[T cmp.Ordered](in []T) []T {
	slices.Sort(in)
	return slices.Compact(in)
}

// byHand reports whether the group already has the rule, created by hand: rules of load
// balancers are marked, or have a group as their source.
func (b *builder) byHand(r NodeRule) bool {
	if r.CIDR == "" {
		return false
	}
	i := slices.IndexFunc(b.facts.NodeGroups, func(g NodeGroup) bool { return g.ID == r.Group })
	if i < 0 {
		return false
	}
	return slices.ContainsFunc(b.facts.NodeGroups[i].Rules, func(f FoundRule) bool {
		return Normal(f.Permission) == Normal(r.Permission) && !OfBalancer(f.Description)
	})
}

// countIngress warns that a group of our own may not hold all of its rules.
func (b *builder) countIngress(group stack.Key, rules int) {
	have, _ := b.found(stack.Key{Kind: KindIngress, Name: group.Name})
	found, _ := have.Spec.(Ingress)
	if rules <= DefaultRuleLimit || len(found.Rules) > DefaultRuleLimit {
		return
	}
	b.report(annotations.ProblemOf("security group of the load balancer", "", fmt.Sprintf(
		"needs %d rules: that is above %d, the quota of accounts that have not raised it; beyond the quota clients of some ports or ranges do not get in", rules, DefaultRuleLimit),
		"fewer source ranges or ports", annotations.Warning))
}

// countRules warns before the first call that a group of the nodes may not hold
// all rules. It is no error, since the quota can have been raised; a group that
// has more rules than the usual quota shows that it has.
func (b *builder) countRules() {
	wanted := len(b.out.Of(KindNodeRule))
	for _, g := range b.facts.NodeGroups {
		if len(g.Rules) > DefaultRuleLimit || len(g.Rules)+wanted <= DefaultRuleLimit {
			continue // the answer is known without looking at every rule
		}
		there := map[Permission]bool{}
		for _, f := range g.Rules {
			there[Normal(f.Permission)] = true
		}
		added := 0
		for r, rule := range stack.Each[NodeRule](b.out, KindNodeRule) {
			if _, found := b.have.Get(r.Key); rule.Group == g.ID && !found && !there[Normal(rule.Permission)] {
				added++
			}
		}
		if total := len(g.Rules) + added; added > 0 && total > DefaultRuleLimit && len(g.Rules) <= DefaultRuleLimit {
			b.report(annotations.ProblemOf("security group "+g.ID, "", fmt.Sprintf(
				"has %d rules and needs %d more for this Service: that is above %d, the quota of accounts that have not raised it", len(g.Rules), added, DefaultRuleLimit),
				"fewer source ranges or ports", annotations.Warning))
		}
	}
}
