package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// builder assembles the desired stack of one Service.
type builder struct {
	in       Input
	facts    *Facts
	have     *stack.Stack
	out      *stack.Stack
	problems annotations.Problems
}

// Build returns the desired stack of a Service. With a problem that is an error there is no
// stack, and the last good one stays.
func Build(in Input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		facts = &Facts{}
	}
	b := &builder{in: in, facts: facts, have: have, out: &stack.Stack{Owner: in.Owner}}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b.check()
	if !b.problems.Errors() {
		b.balancer()
	}
	if !b.problems.Errors() {
		b.ports()
	}
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	return b.out, b.problems, nil
}

// check judges what does not follow from one annotation.
func (b *builder) check() {
	can, _ := providers.CapabilityOf(Capabilities(), b.in.Kind)
	_, _, live := b.found()
	b.problems = append(b.problems, can.WithLive(live).Judge(b.in.Service, b.in.Backends)...)
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	const effect = "cannot be applied: the load balancer accepts all clients; use security groups of the VPC"
	switch {
	case err != nil:
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "no ranges")
	case source == nodeports.RangesFromDefault || len(ranges) == 0:
	case live:
		b.problems.Warn(string(source), "", effect, "no ranges")
	default:
		b.problems.Refuse(string(source), "", effect, "no ranges")
	}
	if b.in.Kind == NLB && !isPublic(b.in) && len(rangesKey.Get(b.in.Values)) > 0 {
		b.problems = append(b.problems, rangesKey.Refusal(b.in.Values, "asks for ranges of ports, which private network load balancers do not have", "a public network load balancer, or private-path"))
	}
	if b.in.Kind != ALB && b.in.Config.WorkerAccount == "" {
		b.problems.Refuse("g2workerServiceAccountID", "", "of the cloud configuration is empty, and members of a network load balancer are instances of that account", "the id of an account")
	}
	b.checkPorts()
}

// checkPorts refuses a port that two protocols share: a load balancer has one listener for
// each number.
func (b *builder) checkPorts() {
	seen := map[int32]bool{}
	for _, p := range b.in.Backends.Ports {
		if seen[p.Port] {
			b.problems.Refuse("spec.ports", p.String(), "is used twice, and a load balancer has one listener per number, whatever its protocol", "another port, or two Services")
		}
		seen[p.Port] = true
	}
}

// found returns the existing load balancer of the Service.
func (b *builder) found() (Balancer, stack.Resource, bool) {
	r, ok := b.have.Get(balancerKey())
	spec, is := r.Spec.(Balancer)
	return spec, r, ok && is
}

// immutable is the message about a setting that a live load balancer cannot take over.
const immutable = "cannot change on a live load balancer; create a second Service with this value, move the clients to it, and delete this one"

// balancer adds the load balancer.
func (b *builder) balancer() {
	v := b.in.Values
	want := Balancer{Name: nameFor(b.in), Kind: b.in.Kind, Public: isPublic(b.in), DNS: DNS{dnsInstanceKey.Get(v), dnsZoneKey.Get(v)}}
	spec, there, live := b.found()
	switch {
	case !live:
	case there.Proof == stack.None:
		b.problems.Refuse(nameKey.Name, spec.Name, "is the name of the load balancer "+there.ID+", which has pools that are not the Service's", "a name that no load balancer has")
	case want.Kind != spec.Kind:
		b.problems = append(b.problems, featuresKey.Refusal(v, "asks for the kind "+want.Kind+", and the load balancer "+there.ID+" of the Service is of the kind "+spec.Kind+"; "+
			"create a second Service, move the clients to it, and delete this one", "the kind "+spec.Kind))
	case want.Public != spec.Public:
		b.problems = append(b.problems, ipTypeKey.Refusal(v, immutable, typeOf(spec.Public)))
	case want.Name != spec.Name:
		b.problems = append(b.problems, nameKey.Refusal(v, immutable, spec.Name))
	case want.DNS != DNS{} && want.DNS != spec.DNS:
		b.problems = append(b.problems, dnsZoneKey.Refusal(v, immutable, cmp.Or(spec.DNS.Zone, "no zone")))
	}
	if b.problems.Errors() {
		return
	}
	want.Subnets = b.subnets(live, spec.Subnets)
	want.Groups = b.groups()
	want.Awaited = b.outbound(spec.Addresses)
	b.out.Put(stack.Resource{Key: balancerKey(), Spec: want})
}

// groups returns the ids of the security groups that the Service names, sorted.
func (b *builder) groups() []string {
	var ids []string
	for _, name := range groupsKey.Get(b.in.Values) {
		at := slices.IndexFunc(b.facts.Groups, func(g SecurityGroup) bool { return g.IsNamed(name) && g.VPC == b.in.Config.VPC })
		if at < 0 {
			b.problems = append(b.problems, annotations.Problem{Key: groupsKey.Name, Value: name, Message: "is not the id or name of a security group of the VPC", Legal: "security groups of the VPC " + b.in.Config.VPC})
			continue
		}
		ids = append(ids, b.facts.Groups[at].ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func typeOf(isPublic bool) string {
	if isPublic {
		return public
	}
	return private
}
