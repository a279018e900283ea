package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// follows reports whether another owner decides the settings of the load balancer.
func (f *controlled) follows() bool { return f.adopts || f.leader != "" }

// adopt judges the load balancer of others that the Service names.
func (f *controlled) adopt(value string) {
	given, there := f.facts.Given[f.ofGroup]
	problem, legal := "", "a Network Load Balancer of "+f.facts.VPC+" that no controller has made"
	switch {
	case !there:
		problem = "names a load balancer that does not exist in this account and region"
	case given.Type != "network":
		problem = "names a load balancer of the type " + given.Type + ", which has no listeners for TCP and UDP"
	case given.VPC != f.facts.VPC:
		problem = "names a load balancer in " + given.VPC + ", but the cluster is in " + f.facts.VPC
	case strings.HasPrefix(value, "arn:") && value != given.ARN:
		problem = "names a deleted load balancer: the one that now has its name is " + given.ARN
	case given.Maker != "":
		problem, legal = "names a load balancer that was "+given.Maker+", which would remove listeners of others", legal+"; for several Services on one, "+groupKey.Name
	case !f.exists:
		problem = "names a load balancer that could not be read; the read is repeated"
	}
	if problem != "" {
		f.report(adoptKey.Refusal(f.in.Values, problem, legal))
		return
	}
	if _, from, said := nameKey.Lookup(f.in.Values); said {
		f.report(warnAbout(from, "has no effect: the load balancer is "+f.ofGroup+", which has its name already", "")...)
	}
	if len(f.old.Groups) > 0 {
		f.adoptClients()
	}
}

// adoptClients refuses annotations that limit the clients where the security groups of
// the load balancer decide, which others have created: the annotations would have no
// effect.
func (f *controlled) adoptClients() {
	const cannot = "cannot be applied: the security groups of the load balancer decide about clients, and they belong to another owner"
	legal := "none, or no " + adoptKey.Name
	if prefixes, source, err := nodeports.SourceRanges(f.in.Service); err == nil && source != nodeports.RangesFromDefault {
		f.report(annotations.ProblemOf(string(source), joinPrefixes(prefixes), cannot, legal, annotations.Error))
	}
	if _, from, said := prefixListsKey.Lookup(f.in.Values); said {
		f.report(refuseValue(from, cannot, legal)...)
	}
}

// lentRules let a load balancer of others in on the ports of the targets, by the first of
// its security groups: others may have other things in that group, so no other port.
func (f *controlled) lentRules(ports []lbcPort) {
	if !f.adopts || !manageRulesKey.Or(f.in.Values, true) {
		return
	}
	var ids []string
	for _, ref := range f.groups {
		ids = append(ids, ref.ID)
	}
	if slices.Contains(ids, "") {
		return // one of ours is among them, and the nodes let that in
	}
	source := stack.RefID(slices.Min(ids))
	let := func(protocol string, numbers []int32) {
		for _, n := range numbers {
			for _, group := range f.builder.groups {
				f.putNodeRule(NodeRule{Group: group, Permission: Permission{Protocol: protocol, FromPort: n, ToPort: n, Source: source}, Description: OwnRuleDescription}, "")
			}
		}
	}
	for _, p := range ports {
		for _, protocol := range p.rawProtocols() {
			let(protocol, f.backendPorts(p))
		}
		let("tcp", f.checkedPorts(p))
	}
}
