package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// builder puts a stack together.
type builder struct {
	in       Input
	facts    *Facts
	have     *stack.Stack
	out      *stack.Stack
	problems annotations.Problems
	product  Product
	version  string // of the load balancer's addresses
	subnets  []Subnet
}

// Build says what the Service wants. With a problem that is an error there is no stack:
// the last good one stays.
func Build(in Input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		facts = &Facts{}
	}
	b := &builder{in: in, facts: facts, have: have, out: &stack.Stack{Owner: in.Owner}, product: productOf(in.Kind)}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b.check()
	if !b.problems.Errors() {
		b.balancer()
	}
	if !b.problems.Errors() {
		b.ports()
		b.guard()
	}
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	return b.out, b.problems, nil
}

// check judges what is no annotation alone.
func (b *builder) check() {
	in := b.in
	can, _ := providers.CapabilityOf(Capabilities(), in.Kind)
	b.problems = append(b.problems, can.Judge(in.Service, in.Backends)...)
	b.checkFields()
	if compartmentOf(in) == "" {
		b.problems.Refuse(compartmentKey.Name, "", "is nowhere said, and the metadata of the machine do not tell it", "the OCID of a compartment here, or compartment of the configuration")
	}
	if said := compartmentKey.Get(in.Values); b.facts.Unseen[said] {
		b.problems.Refuse(compartmentKey.Name, said, "is not found, or not visible with these credentials", "the OCID of a compartment")
	}
	if in.Service.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		b.affinity()
	}
}

// checkFields judges fields, and keys that do not fit to them.
func (b *builder) checkFields() {
	in := b.in
	if _, source, err := nodeports.SourceRanges(in.Service); err != nil {
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "CIDRs such as 10.0.0.0/8")
	}
	if in.Kind == LB && !slices.Contains(in.Backends.Families, corev1.IPv4Protocol) {
		b.problems.Refuse("spec.ipFamilies", "IPv6", "is not possible alone: load balancers of kind lb reach nodes by IPv4", "IPv4, or both families, or "+typeKey.Name+": nlb")
	}
	if keep, origin, said := preserveKey.Lookup(in.Values); in.Kind == NLB && said && !nodeports.LocalOnly(in.Service) {
		_ = keep
		b.problems.Refuse(preserveKey.Name, origin.Raw, "requires externalTrafficPolicy Local: with Cluster the nodes hide the clients", "externalTrafficPolicy Local, or no value")
	}
}

// affinity tells where a policy that is asked for does not keep sessions.
func (b *builder) affinity() {
	key, keeping := policyKey, []string{"IP_HASH"}
	if b.in.Kind == NLB {
		key, keeping = netPolicyKey, []string{"TWO_TUPLE", "THREE_TUPLE"}
	}
	if policy, _, said := key.Lookup(b.in.Values); said && !slices.Contains(keeping, policy) {
		b.problems = append(b.problems, key.Warning(b.in.Values, "wins over spec.sessionAffinity ClientIP, and does not keep a client at its backend", strings.Join(keeping, " or ")))
	}
}

// found returns the existing load balancer.
func (b *builder) found() (Balancer, stack.Resource, bool) {
	r, ok := b.have.Get(b.product.key())
	spec, is := r.Spec.(Balancer)
	return spec, r, ok && is && r.State != stack.Failed
}

// balancer wants the load balancer itself.
func (b *builder) balancer() {
	in := b.in
	want := Balancer{
		Name: BalancerName(b.product, in.Config.Prefix, in.Owner), Compartment: compartmentOf(in), Private: isInternal(in),
		Groups: slices.Sorted(slices.Values(keyForKind(in, groupsKey, netGroupsKey))),
	}
	if in.Kind == NLB {
		want.Assigned, want.Assigned6 = assignedKey.Get(in.Values), assigned6Key.Get(in.Values)
	}
	want.Freeform, want.Defined = tagsOf(in)
	spec, _, there := b.found()
	groups := groupsKey
	if in.Kind == NLB {
		groups = netGroupsKey
	}
	b.known(groups, want.Groups, func(group string) bool { return slices.Contains(spec.Groups, group) })
	if there {
		b.keep(&want, spec)
	} else {
		b.chooseSubnets(&want)
		b.reserve(&want)
	}
	if b.problems.Errors() {
		return
	}
	for _, id := range want.Subnets {
		b.subnets = append(b.subnets, b.facts.Subnets[id])
	}
	b.version = b.versionOf(b.subnets[0])
	if six := len(in.Backends.Families) > 1; six && in.Kind == NLB && b.version == V4 {
		b.single(want.Subnets[0])
	}
	if in.Kind == NLB {
		b.reach()
	}
	want.Version, want.Was = b.version, spec.Version
	if there && in.Kind == LB {
		want.Version = spec.Version // cannot change
	}
	if in.Kind == LB {
		b.shape(&want, spec, there)
	}
	if ruleMode(in) == modeGroup {
		want.Own = stack.RefTo(groupKey())
		if len(want.Groups) >= mostGroups {
			b.problems.Refuse(groupsKey.Name, strings.Join(want.Groups, ","), "leaves no place for the Service's own group", fmt.Sprintf("%d groups at most with %s: NSG", mostGroups-1, ruleModeKey.Name))
		}
	}
	b.out.Put(stack.Resource{Key: b.product.key(), Spec: want})
}

// known refuses groups of a key that are not found. A group in use is not looked up: the
// controller may lack the right to read its compartment.
func (b *builder) known(key *annotations.Key[[]string], groups []string, used func(string) bool) {
	for _, g := range groups {
		if !b.facts.Groups[g] && !used(g) {
			b.problems.Refuse(key.Name, g, "is not found, or not visible with these credentials", "the OCIDs of network security groups")
		}
	}
}

// single says that a subnet has no IPv6 for a Service that would have both.
func (b *builder) single(subnet string) {
	policy := b.in.Service.Spec.IPFamilyPolicy
	if policy != nil && *policy == corev1.IPFamilyPolicyRequireDualStack {
		b.problems.Refuse("spec.ipFamilyPolicy", string(*policy), "is not possible: the subnet "+subnet+" has no IPv6", "PreferDualStack, or a subnet with IPv6")
		return
	}
	b.problems.Warn("spec.ipFamilies", "", "has two families, but the subnet "+subnet+" has no IPv6", "")
}

// reach says that no node can be reached by a family of the load balancer.
func (b *builder) reach() {
	all := familiesIn(b.version)
	for _, f := range all {
		policy := b.in.Service.Spec.IPFamilyPolicy
		switch {
		case !b.unreached(f):
		case len(all) == 1:
			b.problems.Refuse("spec.ipFamilies", string(f), "is not possible: no node has an address of "+string(f), "a family that nodes have")
		case policy != nil && *policy == corev1.IPFamilyPolicyRequireDualStack:
			b.problems.Refuse("spec.ipFamilyPolicy", string(*policy), "is not possible: no node has an address of "+string(f), "PreferDualStack, or nodes of both families")
		default:
			b.problems.Warn("spec.ipFamilies", "", "has two families, but no node has an address of "+string(f), "")
		}
	}
}

// keep takes over what of a live load balancer cannot change, and tells where the
// Service asks for something else.
func (b *builder) keep(want *Balancer, found Balancer) {
	const stays = "cannot change on a live load balancer, which keeps what it has; to change it, delete the Service and create it again"
	key := internalKey
	if b.in.Kind == NLB {
		key = netInternalKey
	}
	if want.Private != found.Private {
		b.notApplied(key.Name, fmt.Sprint(want.Private), stays, "")
	}
	first, second := subnetsAsked(b.in)
	if first != "" && !slices.Contains(found.Subnets, first) && (second == "" || !slices.Contains(found.Subnets, second)) {
		b.notApplied(subnetNameOf(b.in), first, stays, "")
	}
	if _, known := b.facts.Subnets[second]; second != "" && !known {
		b.notApplied(secondSubnetKey.Name, second, "is not found, or the controller's credentials may not read it; the load balancer keeps its subnets", "the OCID of a subnet")
	}
	addresses, where := addressesAsked(b.in)
	for _, ip := range addresses {
		if !slices.ContainsFunc(found.Addresses, func(a Address) bool { return a.IP == ip || a.Reserved == ip }) {
			b.notApplied(where, ip, stays, "")
		}
	}
	b.reportAssigned(*want, found, stays)
	want.Private, want.Subnets, want.Reserved = found.Private, found.Subnets, found.Reserved
	want.Assigned, want.Assigned6, want.Freeform, want.Defined = found.Assigned, found.Assigned6, found.Freeform, found.Defined
}

// reportAssigned reports addresses of the Service's choice that the live load balancer does
// not have.
func (b *builder) reportAssigned(want, found Balancer, stays string) {
	for _, f := range []struct{ key, want, found string }{{assignedKey.Name, want.Assigned, found.Assigned}, {assigned6Key.Name, want.Assigned6, found.Assigned6}} {
		holds := slices.ContainsFunc(found.Addresses, func(a Address) bool { return a.IP == f.want })
		if f.want != "" && f.want != f.found && !holds {
			b.notApplied(f.key, f.want, stays, "")
		}
	}
}

// notApplied reports a value that the live load balancer does not have and does not get.
func (b *builder) notApplied(key, value, message, legal string) {
	b.problems = append(b.problems, annotations.NotApplied(annotations.ProblemOf(key, value, message, legal, annotations.Warning))...)
}

func subnetNameOf(in Input) string {
	if in.Kind == NLB {
		return netSubnetKey.Name
	}
	return subnetKey.Name
}

// chooseSubnets chooses the subnets of a new load balancer: a regional one is used alone.
// Source: load_balancer.go (getOciLoadBalancerSubnets).
func (b *builder) chooseSubnets(want *Balancer) {
	first, second := subnetsAsked(b.in)
	name := subnetNameOf(b.in)
	if first == "" {
		first, second = second, ""
	}
	if first == "" {
		b.problems.Refuse(name, "", "is nowhere said", "the OCID of a subnet here, or loadBalancer.subnet1 of the configuration")
		return
	}
	for _, id := range []string{first, second} {
		if _, known := b.facts.Subnets[id]; id != "" && !known {
			b.problems.Refuse(name, id, "is not found, or not visible with these credentials", "the OCID of a subnet")
			return
		}
	}
	b.choose(want, first, second)
}

// choose selects one or both of two existing subnets; second may be empty.
func (b *builder) choose(want *Balancer, first, second string) {
	other, two := b.facts.Subnets[second]
	defer b.warnSecond(want, first, two)
	switch {
	case b.facts.Subnets[first].Domain == "" || !two && b.in.Kind == NLB || isInternal(b.in) && (!two || other.Domain != ""):
		want.Subnets = []string{first}
	case two && other.Domain == "":
		want.Subnets = []string{second}
	case two && first == second:
		b.problems.Refuse(secondSubnetKey.Name, second, "is the first subnet as well, which is in one availability domain only", legalSecond)
	case two:
		want.Subnets = []string{first, second}
	default:
		b.problems.Refuse(secondSubnetKey.Name, "", "is nowhere said, and "+first+" is in one availability domain only", legalSecond)
	}
}

// warnSecond reports an annotation that names an existing second subnet which the load
// balancer does not use.
func (b *builder) warnSecond(want *Balancer, first string, exists bool) {
	if second := secondSubnetKey.Get(b.in.Values); second != "" && exists && second != first && !slices.Contains(want.Subnets, second) {
		b.problems = append(b.problems, secondSubnetKey.Warning(b.in.Values, "has no effect: the load balancer uses "+first+" alone", legalSecond))
	}
}

// shape sets the desired shape from the Service; an existing flexible load balancer stays
// flexible.
// Source: load_balancer_spec.go (getLBShape).
func (b *builder) shape(want *Balancer, found Balancer, there bool) {
	in := b.in
	name, _, said := shapeKey.Lookup(in.Values)
	was := there && strings.EqualFold(found.Shape, flexible)
	want.Shape = cmp.Or(name, defaultShape)
	if was && !strings.EqualFold(want.Shape, flexible) {
		if said {
			b.problems = append(b.problems, annotations.NotApplied(shapeKey.Warning(in.Values, "is not applied: Oracle cannot change a flexible shape to another one", flexible))...)
		}
		want.Shape = flexible
	}
	if !strings.EqualFold(want.Shape, flexible) {
		return
	}
	want.Shape = flexible
	want.Least, want.Most = leastKey.Get(in.Values), mostKey.Get(in.Values)
	if was {
		want.Least, want.Most = cmp.Or(want.Least, found.Least), cmp.Or(want.Most, found.Most)
	}
	for key, value := range map[*annotations.Key[int]]int{leastKey: want.Least, mostKey: want.Most} {
		if value == 0 {
			b.problems.Refuse(key.Name, "", "is missing: a flexible shape needs it", "a whole number of Mbps")
		}
	}
	want.Most = max(want.Most, want.Least)
}

// tagsOf are those of a new load balancer: the Service's, else the configuration's.
// Source: load_balancer_spec.go (getLoadBalancerTags).
func tagsOf(in Input) (freeform map[string]string, defined string) {
	own, ownDefined := keyForKind(in, freeformKey, netFreeformKey), keyForKind(in, definedKey, netDefinedKey)
	if len(own) == 0 && len(ownDefined) == 0 {
		own, ownDefined = in.Config.Tags.LoadBalancer.Freeform, in.Config.Tags.LoadBalancer.Defined
	}
	if len(ownDefined) > 0 {
		if text, err := json.Marshal(ownDefined); err == nil { // it was parsed from JSON
			defined = string(text)
		}
	}
	return own, defined
}
