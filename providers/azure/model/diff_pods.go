package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// podRules are for what Services have where pools are of pods.
func podRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindContainer: {
			Fields: diff.Fields{
				Ignore: []string{"Group", "Name", "SKU"},
				Equal:  map[string]diff.Equal{"Rules": comparePointwise(sameContainerRule), "Pools": holdsPools},
				Sticky: []string{"SKU"},
			},
			Clash:   diff.Returned,
			Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
		},
		KindContainerIP: {
			Fields: diff.Fields{
				// Build refuses one that does not fit.
				Ignore: []string{"Group", "Name", "Version", "Address", "SKU"},
				Sticky: []string{"Address", "SKU"},
			},
			Clash:   diff.Returned,
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
		},
		KindRegistered: {Fields: diff.Fields{Ignore: []string{"Group", "Gateway", "Name"}}, Clash: diff.Returned, Batch: gatewayBatch},
		KindAttached:   {Within: diff.Within{Inline: true}, Clash: diff.Returned, Batch: gatewayBatch, Traffic: diff.Traffic{Impact: map[string]plan.Impact{"delete": plan.Interrupts}}},
		// One call adds and removes, so the addresses are no set of members.
		KindPods: {Traffic: diff.Traffic{FollowsBackends: true}, Fields: diff.Fields{Ignore: []string{"Service"}}, Clash: diff.Returned, Batch: gatewayBatch},
	}
}

// gatewayBatch: a service gateway takes one write at a time, of either sort.
func gatewayBatch(stack.Resource, plan.Action, string) string { return "gateway/" + GatewayName }

// podEdges are the orders of the official controller. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/service_updater.go.
func podEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	return []diff.Edge{
		{First: step(plan.Create, KindContainer), Then: step(plan.Create, KindRegistered), Reason: "the gateway accepts a service only when its pool exists"},
		{First: step(plan.Create, KindAttached), Then: step(plan.Create, KindPods), Reason: "pods come to a service that has its pool"},
		{First: step(plan.Delete, KindPods), Then: step(plan.Delete, KindAttached), Reason: "the gateway releases a service only when it has no pod"},
		{First: step(plan.Delete, KindPods), Then: step(plan.Delete, KindRegistered), Reason: "the gateway refuses to let a service go that has pods"},
		{First: step(plan.Delete, KindContainer), Then: step(plan.Delete, KindRegistered), Reason: "the service stays registered until its load balancer is deleted"},
	}
}

// sameContainerRule compares what is written: Azure may fill in how flows are
// spread and whether they leave by the frontend, of which nothing is said.
func sameContainerRule(w, h Rule) bool {
	w.Distribution, w.NoSNAT = h.Distribution, h.NoSNAT
	return sameRule(w, h)
}

// holdsPools reports whether the desired pools exist; other pools in the load balancer are
// ignored.
func holdsPools(want, have any) bool {
	w, _ := want.([]string)
	h, _ := have.([]string)
	return !slices.ContainsFunc(w, func(name string) bool {
		return !slices.ContainsFunc(h, func(had string) bool { return strings.EqualFold(had, name) })
	})
}
