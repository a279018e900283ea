package model

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ClassicKey is the key of a Classic Load Balancer: a Service has one load balancer.
func ClassicKey() stack.Key { return stack.Key{Kind: KindClassic} }

func networkKey() stack.Key { return stack.Key{Kind: KindNetwork} }

// classic builds a Classic Load Balancer with its parts.
func (b *builder) classic() {
	have, _ := b.found(ClassicKey())
	old, _ := have.Spec.(Classic)
	scheme := b.scheme(old.Scheme)
	chosen, problems := chooseSubnets(b.in, b.facts, scheme == SchemeInternal)
	b.report(problems...)
	groups := b.classicGroups()
	ports := servedPorts(b.in.Backends.Ports)
	b.put(KindClassic, "", stack.Key{}, Classic{
		Name: b.lb, Scheme: scheme, Subnets: subnetIDs(chosen), Groups: groups,
		Tags: b.facts.Cluster.ownedBy(b.in.Owner, b.extraTags()),
	})
	b.classicListeners(ports)
	b.keepClients()
	b.classicBackends(ports)
	b.put(KindClassicAttr, "", ClassicKey(), classicAttributes(b.in.Values))
	b.put(KindClassicInst, "", ClassicKey(), ClassicInstances{Instances: b.classicInstances()})
	if len(ports) > 0 {
		b.put(KindClassicCheck, "", ClassicKey(), classicCheck(b.in, ports[0].NodePort))
	}
	if len(groups) > 0 {
		b.classicNodeRules(groups[0])
	}
}

// servedPorts returns the ports that nodes answer for, in the order of the Service.
func servedPorts(ports []nodeports.ServicePort) []nodeports.ServicePort {
	return slices.DeleteFunc(slices.Clone(ports), func(p nodeports.ServicePort) bool { return p.NodePort == 0 })
}

func subnetIDs(list []Subnet) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.ID)
	}
	slices.Sort(out)
	return out
}

// classicGroups are the security groups: the annotation's, else the one of the
// configuration, else an own one; then the extra ones. The first is the one that
// nodes let in; groups with the cluster's tag are moved ahead for that.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go (buildELBSecurityGroupList).
func (b *builder) classicGroups() []stack.Ref {
	var refs []stack.Ref
	listed, from, _ := groupsKey.Lookup(b.in.Values)
	b.demandGroups(listed, from)
	for _, id := range listed {
		refs = append(refs, stack.RefID(id))
	}
	shared := b.in.Config.SharedGroup
	switch {
	case len(refs) > 0:
	case shared != "":
		refs = []stack.Ref{stack.RefID(shared)}
	default:
		refs = []stack.Ref{b.ownGroup()}
	}
	extra, from, _ := extraGroupsKey.Lookup(b.in.Values)
	b.demandGroups(extra, from)
	for _, id := range extra {
		if ref := stack.RefID(id); !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	slices.SortStableFunc(refs, func(x, y stack.Ref) int { return b.groupRank(x) - b.groupRank(y) })
	return refs
}

func (b *builder) groupRank(r stack.Ref) int {
	if r.ID == "" {
		return 0
	}
	for _, g := range b.facts.NodeGroups {
		if g.ID == r.ID && hasClusterTag(b.facts.Cluster, g.Tags) {
			return 0
		}
	}
	return 1
}

// ownGroup is a security group for this load balancer alone: it lets the clients
// in on the ports of the Service, and the ICMP messages about packet sizes.
func (b *builder) ownGroup() stack.Ref {
	key := stack.Key{Kind: KindGroup}
	b.put(KindGroup, "", stack.Key{}, Group{
		Name: OwnGroupName(b.lb), Description: ownGroupDescription(b.lb, b.in.Owner), VPC: b.facts.VPC,
		Tags: b.facts.Cluster.owned(b.extraTags()),
	})
	var rules []Permission
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			break
		}
		rules = append(rules, b.clientRules("tcp", p.Port)...)
	}
	b.putIngress(key, rules)
	return stack.RefTo(key)
}

// clientRules let the clients in on one port.
func (b *builder) clientRules(protocol string, port int32) []Permission {
	var out []Permission
	for _, cidr := range b.ranges {
		out = append(out, Permission{Protocol: protocol, FromPort: port, ToPort: port, CIDR: cidr})
	}
	return out
}

// protocolICMP is that of rules about the size of packets.
const protocolICMP = "icmp"

// sizeRule lets in ICMP "fragmentation needed": type 3, code 4.
func sizeRule(cidr string) Permission {
	return Permission{Protocol: protocolICMP, FromPort: 3, ToPort: 4, CIDR: cidr}
}

func (b *builder) putIngress(group stack.Key, rules []Permission) {
	for _, cidr := range b.ranges {
		rules = append(rules, sizeRule(cidr))
	}
	slices.SortFunc(rules, Permission.Compare)
	b.countIngress(group, len(rules))
	b.put(KindIngress, group.Name, group, Ingress{Rules: slices.Compact(rules)})
}

// classicBackends switches the PROXY protocol on or off for every instance port that a
// listener uses.
func (b *builder) classicBackends(ports []nodeports.ServicePort) {
	var policies []stack.Ref
	if proxyKey.Get(b.in.Values) {
		policies = []stack.Ref{b.policy(ClassicPolicy{
			Name: ProxyPolicyName, Type: proxyPolicyType, Attributes: Tags{proxyPolicyAttr: "true"},
		})}
	}
	uses := func(p nodeports.ServicePort) bool {
		return slices.ContainsFunc(b.out.Of(KindClassicPort), func(r stack.Resource) bool {
			l, _ := r.Spec.(ClassicPort)
			return l.InstancePort == p.NodePort
		})
	}
	for _, p := range ports {
		if !uses(p) {
			continue
		}
		b.put(KindClassicBack, Decimal(p.NodePort), ClassicKey(), ClassicPolicies{Port: p.NodePort, Policies: policies})
	}
}

// policy adds a policy object. An existing one of the same name serves as well.
func (b *builder) policy(p ClassicPolicy) stack.Ref {
	b.put(KindClassicPol, p.Name, ClassicKey(), p)
	return stack.RefTo(stack.Key{Kind: KindClassicPol, Name: p.Name})
}

// classicNodeRules admits all traffic from the load balancer. The group of the
// configuration is never edited, even if nodes are in it. The own group of another
// Service's load balancer is identified by its name, as in the official controller: the
// rule is then one that both want, and stays while either needs it.
func (b *builder) classicNodeRules(first stack.Ref) {
	name, mark := b.facts.GroupNames[first.ID], ClassicDescription(b.in.Cluster)
	if first.ID == "" {
		name, mark = OwnGroupName(b.lb), ""
	}
	for _, group := range b.groups {
		if group == b.in.Config.SharedGroup {
			continue
		}
		b.putNodeRule(NodeRule{Group: group, Permission: Permission{Protocol: "-1", Source: first}, Description: mark}, name)
	}
}

// putNodeRule adds a rule in a group of the nodes. A rule that was created by hand
// serves as well and stays external.
func (b *builder) putNodeRule(r NodeRule, sourceName string) {
	key := NodeRuleKey(r.Group, r.Permission, sourceName)
	if _, twice := b.out.Get(key); twice {
		return
	}
	res := stack.Resource{Key: key, In: stack.Key{Kind: KindNodeGroup, Name: r.Group}, Ownership: stack.Shared, Spec: r}
	if b.byHand(r) {
		res.Ownership = stack.External
	}
	b.out.Put(res)
}

// classicAttributes are the attributes that annotations set. Others are left alone.
func classicAttributes(values *annotations.Bag) ClassicAttributes {
	out := ClassicAttributes{
		CrossZone: new(crossZoneKey.Get(values)), DrainingEnabled: new(drainingKey.Get(values)),
		IdleTimeout: new(int32(idleTimeoutKey.Get(values))), LogEnabled: new(logsKey.Get(values)),
	}
	if n, _, ok := drainingTimeoutKey.Lookup(values); ok {
		out.DrainingTimeout = new(int32(n))
	}
	if n, _, ok := logsIntervalKey.Lookup(values); ok {
		out.LogEmitInterval = new(int32(n))
	}
	if s, _, ok := logsBucketKey.Lookup(values); ok {
		out.LogBucket = &s
	}
	if s, _, ok := logsPrefixKey.Lookup(values); ok {
		out.LogPrefix = &s
	}
	return out
}
