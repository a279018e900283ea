package model

import (
	"cmp"

	"github.com/berth-lb/berth/providers/fault"
)

// What a Standard load balancer can have, and the rules that can send to one network
// interface, those for inbound NAT included. Sources: Azure subscription limits, load
// balancer; MicrosoftDocs/azure-docs issue 47423.
const (
	mostRules     = 1500
	mostFrontends = 600
	mostRulesNIC  = 299
)

// fits refuses a step that would exceed the limits of the load balancer. A step that adds
// nothing is never refused.
func (g *lbMerge) fits(base string, rules []Rule, names map[string]string) error {
	over := func(what string, now, then, most int) error {
		if then <= most || then <= now {
			return nil
		}
		return refuseFull("load balancer %s would have %d %s, more than the %d that it can have", g.Name, then, what, most)
	}
	foreign := func(o Object) bool { return !ownedBy(base, o.Text("name")) }
	fronts, now := g.props().List(ListFrontends), g.props().List(ListRules)
	frontends := countIf(fronts, foreign)
	for asked, name := range names {
		if asked == lowerCase(name) {
			frontends++
		}
	}
	err := cmp.Or(over("rules", len(now), countIf(now, foreign)+len(rules), mostRules), over("frontends", len(fronts), frontends, mostFrontends))
	if err != nil || g.Config.PoolType != poolNIC {
		return err
	}
	sends := func(o Object) bool { return IsClusterPool(g.Cluster, PoolOf(o)) }
	nat := len(g.props().List(listNAT))
	others := nat + countIf(now, func(o Object) bool { return foreign(o) && sends(o) })
	wanted := countIf(rules, func(r Rule) bool { return IsClusterPool(g.Cluster, r.Pool) })
	return over("rules that send to the network interface of each node", nat+countIf(now, sends), others+wanted, mostRulesNIC)
}

// refuseFull returns a fault for a resource that cannot have more, whatever the quotas of the account.
func refuseFull(format string, args ...any) error {
	f := fault.New(fault.Quota, format, args...)
	f.Cause = fault.Full
	return f
}

func countIf[T any](list []T, is func(T) bool) int {
	n := 0
	for _, e := range list {
		if is(e) {
			n++
		}
	}
	return n
}
