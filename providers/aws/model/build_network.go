package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// network builds a Network Load Balancer with its parts.
func (b *builder) network() {
	have, exists := b.found(networkKey())
	old, _ := have.Spec.(Network)
	tags := b.facts.Cluster.ownedBy(b.in.Owner, b.extraTags())
	scheme := b.scheme(old.Scheme)
	mappings := b.mappings(scheme == SchemeInternal, exists, old.Mappings)
	groups := b.networkGroups(exists, old.Groups)
	b.put(KindNetwork, "", stack.Key{}, Network{Name: b.lb, Scheme: scheme, Mappings: mappings, Groups: groups, Tags: tags})
	if len(groups) == 0 && targetAttrKey.Get(b.in.Values)[attrPreserveIP] == "false" {
		// Only a warning: the official controller serves such a Service, and its edits must not stop.
		b.idleRanges(annotations.Problem{Code: annotations.CodeLacking, Severity: annotations.Warning, Message: unseenClients, Legal: attrPreserveIP + "=true in " + targetAttrKey.Name})
	}
	b.put(KindNetworkAttr, "", networkKey(), Attributes{Values: networkAttributes(b.in.Values)})
	ports := servedPorts(b.in.Backends.Ports)
	b.networkListeners(ports, tags)
	b.reportZones(mappings)
	b.networkNodeRules(ports, mappings)
}

// mappings are the subnets with their addresses. A live load balancer stays where it is,
// as with the official controller, unless the Service names other subnets; where it is
// already it keeps its addresses.
func (b *builder) mappings(internal, exists bool, old []Mapping) []Mapping {
	live := exists && len(old) > 0
	if _, _, named := subnetsKey.Lookup(b.in.Values); live && !named {
		b.keepAddresses(old)
		return old
	}
	chosen, problems := chooseSubnets(b.in, b.facts, internal)
	b.report(problems...)
	out := make([]Mapping, 0, len(chosen))
	for _, s := range chosen {
		out = append(out, Mapping{Subnet: s.ID})
	}
	eips, eipFrom, hasEIPs := eipKey.Lookup(b.in.Values)
	ips, ipFrom, hasIPs := privateIPKey.Lookup(b.in.Values)
	if hasEIPs && b.fits(len(eips), len(chosen), eipFrom, internal, schemePublic) {
		for i := range out {
			out[i].Allocation = eips[i]
		}
	}
	if hasIPs && b.fits(len(ips), len(chosen), ipFrom, !internal, SchemeInternal) {
		for i := range out {
			out[i].PrivateIP = ips[i].String()
		}
	}
	for i, m := range out {
		if at := slices.IndexFunc(old, func(o Mapping) bool { return o.Subnet == m.Subnet }); live && at >= 0 {
			out[i] = old[at]
		}
	}
	slices.SortFunc(out, func(x, y Mapping) int { return strings.Compare(x.Subnet, y.Subnet) })
	if live {
		b.keepAddresses(out)
	}
	return out
}

// fits checks a list of addresses against the subnets, and against the scheme,
// of which AWS allows only one. Without subnets there is nothing to count.
func (b *builder) fits(count, subnets int, from annotations.Origin, otherScheme bool, scheme string) bool {
	if otherScheme {
		b.report(refuseValue(from, "is possible with "+scheme+" load balancers only", "")...)
	}
	if count != subnets && subnets > 0 {
		b.report(refuseValue(from, fmt.Sprintf("has %d addresses for %d subnets", count, subnets), "one address for each subnet")...)
	}
	return count == subnets
}

// keepAddresses tells the user which addresses a live load balancer does not take on:
// in a subnet that it is in they never change.
func (b *builder) keepAddresses(kept []Mapping) {
	const fixed = "is not applied: AWS cannot change the addresses of a live load balancer in its subnets; name another subnet of the zone, or delete the Service and create it again"
	if eips, from, ok := eipKey.Lookup(b.in.Values); ok && !sameAddresses(eips, kept, func(m Mapping) string { return m.Allocation }) {
		b.report(notApplied(from, fixed, "")...)
	}
	if ips, from, ok := privateIPKey.Lookup(b.in.Values); ok {
		var wanted []string
		for _, ip := range ips {
			wanted = append(wanted, ip.String())
		}
		if !sameAddresses(wanted, kept, func(m Mapping) string { return m.PrivateIP }) {
			b.report(notApplied(from, fixed, "")...)
		}
	}
}

// sameAddresses compares as sets: which subnet has which address is AWS's to know.
func sameAddresses(wanted []string, old []Mapping, of func(Mapping) string) bool {
	var found []string
	for _, m := range old {
		found = append(found, of(m))
	}
	slices.Sort(found)
	return slices.Equal(slices.Sorted(slices.Values(wanted)), found)
}

// networkGroups are the security groups. AWS can neither add the first group to
// a load balancer that was made without one nor take the last one away.
func (b *builder) networkGroups(exists bool, old []stack.Ref) []stack.Ref {
	listed, from, said := groupsKey.Lookup(b.in.Values)
	managed := b.in.Config.GroupMode == groupModeManaged
	said = said && len(listed) > 0
	if said && !managed {
		b.report(b.unheardGroups(from, exists)...)
	}
	switch {
	case exists && len(old) == 0:
		if managed {
			b.report(b.noGroups(from, said)...)
		}
		return nil
	case !managed && !exists:
		return nil
	case managed && said:
		b.demandGroups(listed, from)
		var out []stack.Ref
		for _, id := range listed {
			out = append(out, stack.RefID(id))
		}
		return out
	case managed:
		return []stack.Ref{b.managedGroup()}
	}
	b.keepGroups(old)
	return old
}

// unheardGroups reports groups that the configuration ignores. A new load balancer would admit
// clients that they exclude, so it is refused.
func (b *builder) unheardGroups(from annotations.Origin, exists bool) annotations.Problems {
	const text = "is heard for Network Load Balancers only with NLBSecurityGroupMode=Managed in the cloud config"
	if exists {
		return warnAbout(from, text, "")
	}
	return refuseValue(from, text+", so clients that the groups exclude would be admitted", "no such annotation, spec.loadBalancerSourceRanges, or that mode")
}

// keepGroups wants the groups of a load balancer under which the mode was switched off.
func (b *builder) keepGroups(old []stack.Ref) {
	if slices.Contains(old, stack.RefTo(managedGroupKey())) {
		b.managedGroup()
	}
	for _, ref := range old {
		if shared, ok := b.have.Get(ref.To); ok && ref.To.Kind == KindSharedGroup {
			b.out.Put(stack.Resource{Key: shared.Key, Ownership: stack.Shared, Spec: shared.Spec})
		}
	}
}

func (b *builder) noGroups(from annotations.Origin, listed bool) annotations.Problems {
	const text = "cannot be applied: the load balancer was made without security groups, and AWS cannot add the first one later"
	if listed {
		return warnAbout(from, text, "")
	}
	return annotations.Problems{annotations.ProblemOf("NLBSecurityGroupMode of the cloud config", groupModeManaged, text, "", annotations.Warning)}
}

func managedGroupKey() stack.Key { return stack.Key{Kind: KindGroup, Name: ManagedNLBName} }

// managedGroup is a security group for this load balancer alone. TLS is TCP to a
// firewall; the official controller asks AWS for a protocol "tls" there, which
// it refuses.
func (b *builder) managedGroup() stack.Ref {
	key := managedGroupKey()
	tags := b.facts.Cluster.owned(b.extraTags())
	have, _ := b.have.Get(key)
	if old := TagsIn(have.Spec); OfOtherController(old) || old[TagServiceName] == ServiceName(b.in.Owner) {
		tags = b.facts.Cluster.ownedBy(b.in.Owner, b.extraTags()) // by which one that has been of kind LBC is found
	}
	b.put(KindGroup, key.Name, stack.Key{}, Group{
		Name: ManagedGroupName(b.in.Cluster, b.in.Owner), Description: ManagedGroupDescription, VPC: b.facts.VPC, Tags: tags,
	})
	var rules []Permission
	for _, p := range servedPorts(b.in.Backends.Ports) {
		if b.in.Ended() {
			break
		}
		rules = append(rules, b.clientRules(strings.ToLower(string(p.Protocol)), p.Port)...)
	}
	b.putIngress(key, rules)
	return stack.RefTo(key)
}

// networkAttributes are the managed attributes. The destination of the logs matters, and
// is accepted, only while they are on.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go (reconcileLBAttributes).
func networkAttributes(values *annotations.Bag) Tags {
	out := Tags{
		attrCrossZone: fmt.Sprint(crossZoneKey.Get(values)),
		attrLogs:      fmt.Sprint(logsKey.Get(values)),
	}
	if !logsKey.Get(values) {
		return out
	}
	if s, _, ok := logsBucketKey.Lookup(values); ok {
		out[attrLogsBucket] = s
	}
	if s, _, ok := logsPrefixKey.Lookup(values); ok {
		out[attrLogsPrefix] = s
	}
	return out
}
