package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// keepRequired restores a deleted frontend that the load balancer requires: any frontend
// while another controller fills its pools, since Azure deletes the last one only together
// with the load balancer, and one of IPv4 beside those of IPv6. It has no rules and holds no
// Service. The official controller retains the frontend in the first case, and fails in the
// second one.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func (g *lbMerge) keepRequired() {
	now := g.props().List(ListFrontends)
	stays := map[string]bool{}
	for _, f := range now {
		stays[lowerCase(f.Text("name"))] = true
	}
	var lost []Object
	for _, f := range g.found.Props().List(ListFrontends) {
		if !stays[lowerCase(f.Text("name"))] {
			lost = append(lost, f.Clone())
		}
	}
	six := g.ofIPv6(g.batch)
	first := slices.IndexFunc(lost, func(f Object) bool { return !six(f) })
	switch {
	case len(lost) == 0:
	case first >= 0 && g.onlyIPv6(g.lb, g.batch):
		g.put(ListFrontends, append(now, lost[first]))
	case len(now) == 0 && g.Config.FilledByOthers(KindOf(g.Name)):
		g.put(ListFrontends, append(now, lost[max(first, 0)]))
	}
}

// idle reports whether only frontends remain that keepRequired has retained for others: none
// has a user, and no Service wants their public IPs. A frontend of a Service without rules
// looks the same; it is created again.
func (g *lbMerge) idle() bool {
	i := slices.IndexFunc(g.batch.Steps, func(s plan.Step) bool { return s.ID.Action == plan.Delete })
	if i < 0 || g.Config.FilledByOthers(KindOf(g.Name)) || len(g.props().List(ListRules)) > 0 || HasForeign(g.lb) {
		return false
	}
	return !slices.ContainsFunc(g.props().List(ListFrontends), func(f Object) bool {
		return usedByOthers(g.lb, f.Text("name"), "") || g.wantedByOthers(g.batch.Steps[i], f)
	})
}

// EntriesProof returns the proof for entries of a Service in a load balancer. There is none
// for a single frontend without rules that the load balancer requires; see keepRequired. The
// Service is released without it, and has it again if it wants to.
func EntriesProof(c Config, lb Object, e Entries, address addressOf) stack.Proof {
	if len(e.Rules)+len(e.Probes) > 0 || len(e.Frontends) != 1 {
		return stack.Name
	}
	list := lb.Props().List(ListFrontends)
	if len(list) == 1 && c.FilledByOthers(KindOf(lb.Text("name"))) {
		return stack.None
	}
	six, four := 0, 0
	for _, f := range list {
		if isIPv6(frontendOf(f, address)) {
			six++
		} else {
			four++
		}
	}
	if isIPv4(e.Frontends[0]) && four == 1 && six > 0 {
		return stack.None
	}
	return stack.Name
}
