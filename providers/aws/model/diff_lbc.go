package model

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// controllerRules are for what only load balancers of kind LBC have.
func controllerRules() map[stack.Kind]diff.Rule {
	out := map[stack.Kind]diff.Rule{
		KindSharedGroup: {
			// It is found by its name, and one group is shared by all.
			Fields: diff.Fields{Ignore: []string{"Name", "VPC", "Description", "Tags"}},
			Clash:  diff.Refused,
		},
	}
	for _, p := range listParts() {
		out[p.kind] = p.rule
	}
	return out
}

// groupRules are for what the Services of a group have together. What cannot change is as
// of any Network Load Balancer; what can is the say of the oldest member.
func groupRules() map[stack.Kind]diff.Rule {
	balancer := networkRules()[KindNetwork]
	balancer.Ignore = append(slices.Clone(balancer.Ignore), "Members")
	balancer.Single = true
	balancer.Batch = nil // each waits for its predecessors
	return map[stack.Kind]diff.Rule{
		KindSharedNetwork: balancer,
		KindFrontGroup:    {Fields: diff.Fields{Ignore: []string{"Name", "VPC", "Description", "Tags"}}, Clash: diff.Refused},
		// The key is the content.
		KindFrontRule: {Traffic: diff.Traffic{Role: diff.Admits}, Fields: diff.Fields{Ignore: []string{"Permission", "Listener", "Group"}}, Clash: diff.Refused, Batch: frontBatch},
	}
}

// frontBatch: one call lets in and one shuts out for all members of a group.
func frontBatch(r stack.Resource, a plan.Action, _ string) string {
	return r.In.String() + " " + string(a)
}

// lockGroup lets one member at a time make, change or remove what a group has together.
func lockGroup(_ stack.Owner, r stack.Resource, _ func(stack.Key) (stack.Resource, bool)) []string {
	switch r.Key.Kind {
	case KindSharedNetwork, KindFrontGroup:
		return []string{r.Key.String()}
	}
	return nil
}

// groupEdges are the orders of groups that no reference says.
func groupEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	return []diff.Edge{
		{First: step(plan.Create, KindTargetGroup), Then: step(plan.Create, KindSharedNetwork),
			Reason: "a target group identifies a member, so a crash in between must leave one"},
		{First: step(plan.Create, KindTargetGroup), Then: step(plan.Create, KindFrontGroup),
			Reason: "a target group identifies a member, so a crash in between must leave one"},
		{First: step(plan.Delete, KindSharedNetwork), Then: step(plan.Delete, KindTargetGroup),
			Reason: "the listeners are deleted with the load balancer, and the target group identifies the former member"},
		{First: step(plan.Delete, KindFrontGroup), Then: step(plan.Delete, KindTargetGroup),
			Reason: "the target group identifies the former member"},
		{First: step(plan.Delete, KindListener), Then: step(plan.Delete, KindFrontRule),
			Reason: "clients of the old port are served until its listener is deleted"},
		{First: step(plan.Create, KindFrontRule), Then: step(plan.Delete, KindFrontRule), Soft: true,
			Reason: "traffic that is allowed before and after must be allowed in between"},
		{First: step(plan.Create, KindFrontRule), Then: step(plan.Create, KindListener), Soft: true,
			Reason: "clients of the new port are let in first"},
		{First: step(plan.Create, KindFrontRule), Then: step(plan.Delete, KindListener), Soft: true,
			Reason: "a new port that admits no client must take no old one away"},
		{First: step(plan.Delete, KindFrontRule), Then: step(plan.Delete, KindTargetGroup),
			Reason: "the target group identifies the former member"},
		{First: step(plan.Create, KindSharedNetwork), Then: step(plan.Create, KindNodeRule),
			Reason: "a rule is known as ours by the load balancer, so a crash in between must leave the load balancer"},
		{First: step(plan.Delete, KindSharedNetwork), Then: step(plan.Delete, KindFrontRule),
			Reason: "the load balancer serves until AWS has deleted it"},
		{First: step(plan.Create, KindNodeRule), Then: diff.Match{Action: plan.Update, Kind: KindSharedNetwork, Part: "groups"},
			Reason: "nodes must let the new group in before the load balancer sends from it"},
	}
}

// controllerEdges are the orders of kind LBC that no reference says.
func controllerEdges() []diff.Edge {
	return []diff.Edge{
		{First: diff.Match{Action: plan.Create, Kind: KindNodeRule}, Then: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "groups"},
			Reason: "nodes must let the new group in before the load balancer sends from it"},
		{First: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "groups"}, Then: diff.Match{Action: plan.Delete, Kind: KindNodeRule},
			Reason: "nodes must let the old group in until the load balancer has left it"},
		{First: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "address-type"}, Then: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "subnets"},
			Reason: "IPv6 addresses and prefixes go to a load balancer of both families"},
	}
}

// DefaultCodes are the HTTP codes that count as healthy where none are set.
// Source: API reference, Matcher.
const DefaultCodes = "200-399"

// sameCodes compares the codes where the user chose some; found, none are the usual
// ones.
func sameCodes(want, have any) bool {
	w, _ := want.(string)
	h, _ := have.(string)
	return w == "" || w == cmp.Or(h, DefaultCodes)
}
