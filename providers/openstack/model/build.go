package model

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

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
	name     string // of the Service's own load balancer
	subnet   string // of the members
	replaces bool   // the found load balancer is replaced
}

// Build says what the Service wants. With a problem that is an error there is no stack:
// the last good one stays.
func Build(in Input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		facts = &Facts{}
	}
	b := &builder{in: in, facts: facts, have: have, out: &stack.Stack{Owner: in.Owner}, name: BalancerName(in.Cluster, in.Owner)}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	for _, build := range []func(){b.check, b.balancer, b.ports, b.address, b.groups} {
		if build(); b.problems.Errors() {
			return nil, b.problems, nil // the others rest on it
		}
	}
	return b.out, b.problems, nil
}

// check judges what is no annotation alone.
func (b *builder) check() {
	in, c := b.in, b.in.Config
	if _, known := classOf(in); !known {
		names := make([]string, 0, len(c.Classes))
		for name := range c.Classes {
			names = append(names, fmt.Sprintf("%q", name))
		}
		slices.Sort(names)
		legal := "no class: the configuration has none"
		if len(names) > 0 {
			legal = strings.Join(names, ", ")
		}
		b.problems.Refuse(classKey.Name, classKey.Get(in.Values), "is no section LoadBalancerClass of the configuration", legal)
	}
	can, _ := providers.CapabilityOf(Capabilities(), Octavia)
	b.problems = append(b.problems, can.Judge(in.Service, in.Backends)...)
	if len(in.Backends.Families) > 1 {
		b.problems.Warn("spec.ipFamilies", "", fmt.Sprintf("has two families, but a load balancer has an address of %s only", ipFamily(in)), "")
	}
	if _, source, err := nodeports.SourceRanges(in.Service); err != nil {
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "CIDRs such as 10.0.0.0/8")
	}
	b.otherFamily()
	if ref := tlsRef(in); ref != "" && !c.ExternalStore && !b.facts.Secrets[ref] {
		b.problems.Refuse(tlsKey.Name, ref, "is not found, or the key manager cannot be read", "the address of a container or secret of Barbican")
	}
	if id := memberSubnetKey.Get(in.Values); id != "" {
		if _, there := b.facts.Subnets[id]; !there {
			b.problems.Refuse(memberSubnetKey.Name, id, "is not found, or not visible with these credentials", "the id of a subnet")
		}
	}
	b.driver()
	b.unsupported()
	b.reportSameName()
}

// otherFamily refuses source ranges of which none is of the family of the load balancer.
// Octavia admits everyone to a listener without ranges, so that to leave the others out
// would open it. Ranges of the other family beside usable ones are reported.
func (b *builder) otherFamily() {
	list, source, err := nodeports.SourceRanges(b.in.Service)
	if err != nil || source == nodeports.RangesFromDefault {
		return
	}
	served := ipFamily(b.in)
	var dropped []string
	for _, p := range list {
		if nodeports.FamilyOf(p.Addr()) != served {
			dropped = append(dropped, p.String())
		}
	}
	message := fmt.Sprintf("has ranges of another family, but the load balancer has an address of %s only", served)
	switch {
	case len(dropped) == len(list):
		b.problems.Refuse(string(source), strings.Join(dropped, ", "), message, fmt.Sprintf("CIDRs of %s", served))
	case len(dropped) > 0:
		b.problems.Warn(string(source), strings.Join(dropped, ", "), message+": they have no effect", fmt.Sprintf("CIDRs of %s", served))
	}
}

// driver refuses what the driver of the configuration cannot do.
func (b *builder) driver() {
	in, name := b.in, b.in.Config.Provider
	can := driverOf(name)
	if method := b.method(); len(can.Algorithms) > 0 && !slices.Contains(can.Algorithms, method) {
		key := "lb-method of the configuration"
		if methodKey.Get(in.Values) != "" {
			key = methodKey.Name
		}
		b.problems.Refuse(key, method, "is not possible with the driver "+name, strings.Join(can.Algorithms, ", "))
	}
	if can.Proxies {
		return
	}
	const why = "is not possible: the driver %s passes packets on and ends no connections"
	if forwardedKey.Get(in.Values) {
		b.problems.Refuse(forwardedKey.Name, "true", fmt.Sprintf(why, name), "false")
	}
	if ref := tlsRef(in); ref != "" {
		b.problems.Refuse(tlsKey.Name, ref, fmt.Sprintf(why, name), "no certificate")
	}
	if usesProxyProtocol(in) {
		b.problems.Refuse(proxyKey.Name, proxyKey.Get(in.Values), fmt.Sprintf(why, name), "false")
	}
}

// unsupported warns of what the cloud's API does not have.
func (b *builder) unsupported() {
	f := b.in.Config.Features
	if key := flavorKey; key.Get(b.in.Values) != "" && !f.Flavors {
		b.problems = append(b.problems, key.Warning(b.in.Values, "has no effect: this cloud's load balancers have no flavors", ""))
	}
	if key := zoneKey; key.Get(b.in.Values) != "" && !f.Zones {
		b.problems = append(b.problems, key.Warning(b.in.Values, "has no effect: this cloud's load balancers have no availability zones", ""))
	}
	if _, source, _ := nodeports.SourceRanges(b.in.Service); source != nodeports.RangesFromDefault && !f.Ranges && !b.guarded() {
		advice := "protect the nodes by security groups"
		if !driverOf(b.in.Config.Provider).Proxies {
			advice = "manage-security-groups of the configuration lets in only these at the nodes"
		}
		b.problems.Warn(string(source), "", "has no effect: this cloud's load balancers admit all clients; "+advice, "")
	}
}

// guarded reports whether the nodes' own security group admits only the Service's clients.
func (b *builder) guarded() bool {
	return b.in.Config.ManageGroups && !driverOf(b.in.Config.Provider).Proxies
}

func (b *builder) method() string {
	return methodKey.Or(b.in.Values, b.in.Config.Method)
}

// found returns the live load balancer that the Service uses.
func (b *builder) found() (Balancer, stack.Resource, bool) {
	r, ok := b.have.Get(balancerKey())
	spec, isBalancer := r.Spec.(Balancer)
	return spec, r, ok && isBalancer && !isForeign(r)
}

// isForeign reports whether a load balancer has the Service's name and belongs to another
// cluster of the same name.
func isForeign(r stack.Resource) bool { return r.Proof == stack.None && r.Ownership == stack.Owned }

// reportSameName warns of another cluster's load balancer that has the Service's name. Nothing is
// created beside it.
func (b *builder) reportSameName() {
	if r, ok := b.have.Get(balancerKey()); ok && isForeign(r) {
		b.problems.Warn("--cluster-name", b.in.Cluster, "is the name of another cluster as well, whose nodes the load balancer "+r.ID+
			" of the Service's name sends to; it is left alone", "a name that no other cluster of the project has, or "+r.ID+" in the annotation "+idKey.Name+" to take that load balancer over")
	}
}

// immutable is the message about a setting that a live load balancer cannot take over.
const immutable = "cannot change on a live load balancer, which keeps what it has; to change it, delete the Service and create it again"

// fixed warns of settings that a live load balancer cannot take over.
func (b *builder) fixed(want, found Balancer) {
	class, _ := classOf(b.in)
	named := map[*annotations.Key[string]]string{networkKey: class.Network, subnetKey: class.Subnet}
	for _, f := range []struct {
		key        *annotations.Key[string]
		want, have string
	}{{flavorKey, want.Flavor, found.Flavor}, {zoneKey, want.Zone, found.Zone}, {networkKey, want.Network, found.Network}, {subnetKey, want.Subnet, found.Subnet}, {portKey, want.Port, found.Port}} {
		_, _, said := f.key.Lookup(b.in.Values)
		switch {
		case f.want == "" || f.want == f.have:
		case f.want == named[f.key]:
			b.notApplied(classKey.Warning(b.in.Values, "sets a "+f.key.Name[strings.LastIndex(f.key.Name, "/")+1:]+" that "+immutable, ""))
		case said:
			b.notApplied(f.key.Warning(b.in.Values, immutable, ""))
		}
	}
	if want.Address != "" && want.Address != found.Address {
		b.notApplied(annotations.ProblemOf("spec.loadBalancerIP", want.Address, "cannot change on a live load balancer, which keeps "+found.Address+"; to change it, delete the Service and create it again", "", annotations.Warning))
	}
}

// notApplied reports a value that the live load balancer does not have and does not get.
func (b *builder) notApplied(p annotations.Problem) {
	b.problems = append(b.problems, annotations.NotApplied(p)...)
}

func (b *builder) nodeSubnet() string {
	for node := range b.in.Backends.Nodes.All() {
		if address, ok := node.Address(ipFamily(b.in)); ok {
			if subnet := b.facts.NodeSubnets[address.String()]; subnet != "" {
				return subnet
			}
		}
	}
	return ""
}

// share wants a part of a load balancer that is not the Service's own.
func (b *builder) share(spec Balancer, there stack.Resource) {
	in := b.in
	if isInternal(in) {
		b.problems.Refuse(internalKey.Name, "true", "cannot go together with a load balancer of others", "false, or no "+idKey.Name)
		return
	}
	if !in.Config.Features.Tags {
		b.problems.Refuse(idKey.Name, there.ID, "cannot be shared: this cloud's load balancers have no tags, by which Services say what is theirs", "no id")
		return
	}
	if spec.Status == Failed {
		b.problems.Warn(idKey.Name, there.ID, "is in ERROR, and so takes no changes; its maker must repair it", "")
	}
	if others := OtherTags(spec.Tags, b.name); len(others) >= in.Config.MaxShared && !slices.Contains(spec.Tags, b.name) {
		b.problems.Refuse(idKey.Name, there.ID, fmt.Sprintf("has %d Services already, as many as max-shared-lb of the configuration allows", len(others)), "the id of a load balancer with fewer")
		return
	}
	if _, bound := b.have.Get(stack.Key{Kind: KindBinding}); !bound && !ipv6(in) {
		b.problems.Refuse(idKey.Name, there.ID, "has no floating IP, and a Service that shares a load balancer does not add one", "the id of a load balancer with a floating IP")
		return
	}
	b.subnet = cmp.Or(memberSubnet(in), spec.Subnet)
	b.out.Put(stack.Resource{Key: balancerKey(), ID: there.ID, Ownership: stack.External, Spec: spec})
	b.out.Put(stack.Resource{Key: shareKey(), Spec: Share{Balancer: there.ID, Tag: b.name}})
}

// SlotFloating is held by one floating IP at a time.
const SlotFloating = "floating-ip"

// tagsToo says which subnets alone have been looked through.
func tagsToo(tags string) string {
	if tags == "" {
		return ""
	}
	return " that has the tags " + tags
}

// namePattern reads a pattern: a glob, or a regular expression after "~", either
// negated by "!". Both must cover the whole name.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer_subnet_match.go.
func namePattern(pattern string) (func(string) bool, error) {
	rest, negated := strings.CutPrefix(pattern, "!")
	if rest == "" {
		return func(string) bool { return !negated }, nil
	}
	if expression, is := strings.CutPrefix(rest, "~"); is {
		re, err := regexp.Compile(expression)
		if err != nil {
			return nil, err
		}
		return func(name string) bool { return (re.FindString(name) == name) != negated }, nil
	}
	if _, err := path.Match(rest, ""); err != nil {
		return nil, err
	}
	return func(name string) bool {
		ok, _ := path.Match(rest, name) // the pattern was tried above
		return ok != negated
	}, nil
}

// clientRanges returns the admitted ranges of clients, of the family that is served; by
// default every address.
func clientRanges(in Input) []string {
	list, source, _ := nodeports.SourceRanges(in.Service)
	if source == nodeports.RangesFromDefault {
		if ipv6(in) {
			return []string{"::/0"}
		}
		return []string{"0.0.0.0/0"}
	}
	out := []string{}
	for _, p := range nodeports.OfFamily(list, ipFamily(in)) {
		out = append(out, p.Masked().String())
	}
	slices.Sort(out)
	return out
}
