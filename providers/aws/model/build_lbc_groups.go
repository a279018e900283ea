package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// securityGroups are those of the load balancer: its own group, which lets clients in,
// and the shared group that all load balancers send from; or the groups that the user
// names. AWS can neither add the first group later nor remove the last one.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_load_balancer.go (buildLoadBalancerSecurityGroups).
func (f *controlled) securityGroups() {
	if f.follows() {
		f.keepFront()
		return
	}
	without, from, _ := noGroupKey.Lookup(f.in.Values)
	names, namesFrom, named := groupsKey.Lookup(f.in.Values)
	named = named && len(names) > 0
	switch bare := f.exists && len(f.old.Groups) == 0; {
	case bare && named:
		f.report(notApplied(namesFrom, "is not applied: the load balancer was created without security groups, and AWS cannot add the first one to a live one; delete the Service and create it again", "")...)
	case bare && !without:
		f.report(annotations.ProblemOf(noGroupKey.Name, "false", "is not possible: the load balancer was made without security groups, as those of kind "+NLB+" are, and AWS cannot add the first one later; the nodes' groups let clients in, as before",
			"\"true\", which confirms this; or a Service that is created again", annotations.Warning))
	case bare:
	case without && f.exists:
		f.report(refuseValue(from, "contradicts the load balancer, which was made with security groups; AWS cannot take the last one away", "")...)
	case without:
	case named:
		f.userGroups(names, namesFrom)
	default:
		f.groups = []stack.Ref{f.frontGroup()}
		if !f.c.NoBackendGroup {
			f.groups = append(f.groups, f.sharedGroup())
		}
	}
}

// userGroups are the groups that the user names, ids before names, and the shared one
// where nodes are to let the load balancer in.
func (f *controlled) userGroups(names []string, from annotations.Origin) {
	var ids, byName []string
	for _, name := range names {
		if strings.HasPrefix(name, "sg-") {
			ids = append(ids, name)
			continue
		}
		switch found := f.facts.NamedGroups[name]; len(found) {
		case 1:
			byName = append(byName, found[0])
		case 0:
			f.report(refuseValue(from, "names "+strconv.Quote(name)+", which is the tag Name of no security group of "+f.facts.VPC, "ids of security groups, or values of their tag Name")...)
		default:
			f.report(refuseValue(from, "names "+strconv.Quote(name)+", which is the tag Name of several security groups: "+strings.Join(found, ", "), "ids, where names are not unique")...)
		}
	}
	f.demandGroups(ids, from)
	for _, id := range slices.Concat(ids, byName) {
		if ref := stack.RefID(id); !slices.Contains(f.groups, ref) {
			f.groups = append(f.groups, ref)
		}
	}
	if !manageRulesKey.Or(f.in.Values, f.c.ManageRules) {
		return
	}
	if f.c.NoBackendGroup {
		f.report(manageRulesKey.Refusal(f.in.Values, "needs the shared security group, which DisableBackendSecurityGroup of the cloud config switches off", ""))
		return
	}
	f.groups = append(f.groups, f.sharedGroup())
}

// frontGroup is a security group for this load balancer alone, which lets clients in.
func (f *controlled) frontGroup() stack.Ref {
	if f.ofGroup != "" {
		return f.commonFront()
	}
	key := managedGroupKey()
	f.put(KindGroup, key.Name, stack.Key{}, Group{
		Name: ManagedGroupName(f.in.Cluster, f.in.Owner), Description: ManagedGroupDescription, VPC: f.facts.VPC, Tags: f.tagged(resourceGroup),
	})
	rules := f.frontRules()
	f.countIngress(key, len(rules))
	f.put(KindIngress, key.Name, key, Ingress{Rules: rules})
	return stack.RefTo(key)
}

// frontRules are those by which clients come in.
func (f *controlled) frontRules() []Permission {
	var rules []Permission
	for _, p := range f.in.Backends.Ports {
		if f.in.Ended() {
			break
		}
		protocol := strings.ToLower(string(p.Protocol))
		rules = append(rules, f.clientRules(protocol, p.Port)...)
		for _, list := range prefixListsKey.Get(f.in.Values) {
			rules = append(rules, Permission{Protocol: protocol, FromPort: p.Port, ToPort: p.Port, CIDR: list})
		}
	}
	if icmpKey.Get(f.in.Values) == "on" {
		rules = append(rules, f.sizeRules()...)
	}
	slices.SortFunc(rules, Permission.Compare)
	return slices.Compact(rules)
}

// sizeRules let in the messages about the size of packets. Rules of an earlier AWS Load Balancer
// Controller, which swapped type and code, stay while the Service has their ranges: a take-over
// writes nothing.
func (f *controlled) sizeRules() []Permission {
	r, _ := f.found(stack.Key{Kind: KindIngress, Name: managedGroupKey().Name})
	found, _ := r.Spec.(Ingress)
	var rules, former []Permission
	for _, cidr := range f.ranges {
		rule, before := tooBigRule(cidr), formerSizeRule(cidr)
		if slices.Contains(found.Rules, before) && !slices.Contains(found.Rules, rule) {
			rule = before
			former = append(former, before)
		}
		rules = append(rules, rule)
	}
	if len(former) > 0 {
		f.report(icmpKey.Warning(f.in.Values, "has less effect than it says: an older AWS Load Balancer Controller created the rule in the load balancer's security group with another type of ICMP, and it is kept; to correct it, remove the annotation, wait until the Service is programmed, and add it again", ""))
	}
	return rules
}

// formerSizeRule is the rule of older versions of the AWS Load Balancer Controller.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/shared_constants (before cf2fcedda).
func formerSizeRule(cidr string) Permission {
	if strings.Contains(cidr, ":") {
		return Permission{Protocol: "icmpv6", FromPort: 0, ToPort: 4, CIDR: cidr}
	}
	return Permission{Protocol: protocolICMP, FromPort: 2, ToPort: 3, CIDR: cidr}
}

// tooBigRule lets in the message that a packet is too big, of either family.
func tooBigRule(cidr string) Permission {
	if strings.Contains(cidr, ":") {
		return Permission{Protocol: "icmpv6", FromPort: 2, ToPort: 0, CIDR: cidr}
	}
	return sizeRule(cidr)
}

// sharedGroup is what all load balancers of the kind send from; nodes let it in once
// for all of them.
func (f *controlled) sharedGroup() stack.Ref {
	if id := f.c.BackendGroup; id != "" {
		return stack.RefID(id)
	}
	key := sharedGroupKey(f.in.Cluster)
	f.out.Put(stack.Resource{Key: key, Ownership: stack.Shared, Spec: Group{
		Name: key.Name, Description: sharedGroupDescription, VPC: f.facts.VPC, Tags: sharedGroupTags(f.in.Cluster, f.c.Tags),
	}})
	return stack.RefTo(key)
}

// nodeRules let the load balancer in on nodes and pods. With groups one rule for every
// protocol is enough for all load balancers: nothing but they send from the shared
// group, and they send to the ports of Services alone. The AWS Load Balancer Controller
// keeps rules of its own, of which it takes none away that is not marked as its own.
func (f *controlled) nodeRules(ports []lbcPort) {
	if len(ports) == 0 {
		return
	}
	if len(f.groups) == 0 {
		manages := manageRulesKey.Or(f.in.Values, true)
		idle := annotations.Problem{Code: annotations.CodeUnlimited, Severity: annotations.Error}
		switch {
		case !manages:
			idle.Message, idle.Legal = "the rules of the nodes are the user's", "no "+manageRulesKey.Name+"=false, or a new Service without "+noGroupKey.Name
			f.idleRanges(idle)
			return
		case slices.ContainsFunc(ports, func(p lbcPort) bool { return !f.preserves(p) }):
			idle.Message, idle.Legal = unseenClients, attrPreserveIP+"=true in "+targetAttrKey.Name+", or a new Service without "+noGroupKey.Name
			f.idleRanges(idle)
		}
		f.rangeRules(ports)
		return
	}
	source, name := f.source()
	if source.IsZero() {
		f.lentRules(ports)
		return
	}
	protocols := []string{"tcp"} // health checks come over TCP whatever the port's protocol
	if slices.ContainsFunc(ports, lbcPort.datagrams) {
		protocols = append(protocols, "udp")
	}
	for _, group := range f.builder.groups {
		for _, protocol := range protocols {
			f.putNodeRule(NodeRule{Group: group, Permission: Permission{Protocol: protocol, FromPort: 1, ToPort: 65535, Source: source}, Description: OwnRuleDescription}, name)
		}
	}
}

// source is the group that the load balancer sends from, if nodes are to let one in.
func (f *controlled) source() (stack.Ref, string) {
	shared := sharedGroupKey(f.in.Cluster)
	for _, ref := range f.groups {
		switch {
		case ref.ID != "" && ref.ID == f.c.BackendGroup:
			return ref, ""
		case ref.To == shared:
			return ref, shared.Name
		case f.c.NoBackendGroup && ref.To == managedGroupKey():
			return ref, ManagedGroupName(f.in.Cluster, f.in.Owner)
		case f.c.NoBackendGroup && f.ofGroup != "" && ref.To == FrontKey(f.ofGroup):
			return ref, FrontName(f.in.Cluster, f.ofGroup)
		}
	}
	return stack.Ref{}, ""
}

// rangeRules let in, for a load balancer without groups, clients where it keeps their
// addresses, else the load balancer's subnets, and the health checks from there.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go (buildTargetGroupBindingNetworkingLegacy).
func (f *controlled) rangeRules(ports []lbcPort) {
	for _, p := range ports {
		subnets := f.balancerRanges(p)
		from := subnets
		if f.preserves(p) {
			from = f.ranges
		}
		for _, protocol := range p.rawProtocols() {
			for _, group := range f.builder.groups {
				f.putPorts(group, protocol, f.backendPorts(p), from, OwnRuleDescription)
			}
		}
		for _, group := range f.builder.groups {
			f.putPorts(group, "tcp", f.checkedPorts(p), subnets, OwnRuleDescription)
		}
	}
}

// rawProtocols are those of the packets that come to the targets.
func (p lbcPort) rawProtocols() []string {
	switch p.group {
	case protocolBoth, protocolTCPQUIC:
		return []string{"tcp", "udp"}
	case "UDP", protocolQUIC:
		return []string{"udp"}
	}
	return []string{"tcp"}
}

// balancerRanges are the ranges of the load balancer's subnets, of the family of a port's
// target group.
func (f *controlled) balancerRanges(p lbcPort) []string {
	var out []string
	for _, s := range f.chosen {
		if cidr := f.rangeOf(p, s); cidr != "" {
			out = append(out, cidr)
		}
	}
	return sortedSet(out)
}

func (f *controlled) rangeOf(p lbcPort, s Subnet) string {
	if f.overIPv6(p) {
		return s.CIDR6
	}
	return s.CIDR
}

// preserves reports whether targets see the addresses of clients.
func (f *controlled) preserves(p lbcPort) bool {
	if p.datagrams() {
		return true
	}
	if said, ok := f.targetAttributes(p)[attrPreserveIP]; ok {
		on, _ := strconv.ParseBool(said) // the key lets nothing else through
		return on
	}
	return f.target == targetInstance
}
