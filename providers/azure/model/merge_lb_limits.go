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
	frontends, others, sending, mine := 0, 0, 0, 0
	for _, f := range g.props().List(ListFrontends) {
		if !ownedBy(base, f.Text("name")) {
			frontends++
		}
	}
	nowFrontends := len(g.props().List(ListFrontends))
	for asked, name := range names {
		if asked == lowerCase(name) {
			frontends++
		}
	}
	now := g.props().List(ListRules)
	for _, r := range now {
		toNodes := IsClusterPool(g.Cluster, PoolOf(r))
		switch {
		case !ownedBy(base, r.Text("name")):
			others++
			sending += countTrue(toNodes)
		default:
			mine += countTrue(toNodes)
		}
	}
	nat := len(g.props().List(listNAT))
	err := cmp.Or(over("rules", len(now), others+len(rules), mostRules), over("frontends", nowFrontends, frontends, mostFrontends))
	if err == nil && g.Config.PoolType == poolNIC {
		wanted := 0
		for _, r := range rules {
			wanted += countTrue(IsClusterPool(g.Cluster, r.Pool))
		}
		err = over("rules that send to the network interface of each node", nat+sending+mine, nat+sending+wanted, mostRulesNIC)
	}
	return err
}

// refuseFull returns a fault for a resource that cannot have more, whatever the quotas of the account.
func refuseFull(format string, args ...any) error {
	f := fault.New(fault.Quota, format, args...)
	f.Cause = fault.Full
	return f
}

func countTrue(is bool) int {
	if is {
		return 1
	}
	return 0
}
