package aws

import (
	"context"
	"maps"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Apply performs the steps of one batch and returns one outcome per step.
// Rules of node groups, listeners of Classic Load Balancers and tags go out together;
// every other step is a call of its own.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	if len(b.Steps) == 0 {
		return nil
	}
	first := b.Steps[0].ID
	switch {
	case first.Key.Kind == KindNodeRule:
		return s.applyNodeRules(ctx, b)
	case b.Key != "" && first.Part == partTags:
		return s.applyTags(ctx, b)
	case first.Key.Kind == KindFrontRule:
		return s.applyFrontRules(ctx, b)
	case first.Key.Kind == KindClassicPort && first.Action == plan.Create:
		return s.createClassicListeners(ctx, b)
	case first.Key.Kind == KindClassicPort && first.Action == plan.Delete:
		return s.deleteClassicListeners(ctx, b)
	}
	table := verbs()
	maps.Copy(table, controllerVerbs())
	maps.Copy(table, groupVerbs())
	return table.Apply(ctx, s, b)
}

// change is one step at work.
type change = kit.Change[*Session]

// verbs is the table of all single calls.
func verbs() kit.Verbs[*Session] {
	return kit.Verbs[*Session]{
		{Kind: KindGroup, Action: plan.Create}:                   kit.With(createGroup),
		{Kind: KindGroup, Action: plan.Delete}:                   deleteGroup,
		{Kind: KindIngress, Action: plan.Update, Part: "rules+"}: grantIngress,
		{Kind: KindIngress, Action: plan.Update, Part: "rules-"}: revokeIngress,

		{Kind: KindClassic, Action: plan.Create}:                         kit.With(createClassic),
		{Kind: KindClassic, Action: plan.Update, Part: "subnets"}:        kit.With(setClassicSubnets),
		{Kind: KindClassic, Action: plan.Update, Part: "groups"}:         kit.With(setClassicGroups),
		{Kind: KindClassic, Action: plan.Update, Part: "tags"}:           kit.With(tagClassic),
		{Kind: KindClassic, Action: plan.Delete}:                         deleteClassic,
		{Kind: KindClassicPort, Action: plan.Update}:                     kit.With(setClassicCertificate),
		{Kind: KindClassicPol, Action: plan.Create}:                      kit.With(createClassicPolicy),
		{Kind: KindClassicPol, Action: plan.Delete}:                      deleteClassicPolicy,
		{Kind: KindClassicSSL, Action: plan.Update}:                      kit.With(setListenerPolicies),
		{Kind: KindClassicBack, Action: plan.Update}:                     kit.With(setBackendPolicies),
		{Kind: KindClassicAttr, Action: plan.Update}:                     kit.With(setClassicAttributes),
		{Kind: KindClassicCheck, Action: plan.Update}:                    kit.With(setClassicCheck),
		{Kind: KindClassicInst, Action: plan.Update, Part: "instances+"}: registerInstances,
		{Kind: KindClassicInst, Action: plan.Update, Part: "instances-"}: deregisterInstances,

		{Kind: KindNetwork, Action: plan.Create}:                   kit.With(createNetwork),
		{Kind: KindNetwork, Action: plan.Update, Part: "subnets"}:  kit.With(setNetworkSubnets),
		{Kind: KindNetwork, Action: plan.Update, Part: "groups"}:   kit.With(setNetworkGroups),
		{Kind: KindNetwork, Action: plan.Delete}:                   deleteNetwork,
		{Kind: KindNetworkAttr, Action: plan.Update}:               kit.With(setNetworkAttributes),
		{Kind: KindTargetGroup, Action: plan.Create}:               kit.With(createTargetGroup),
		{Kind: KindTargetGroup, Action: plan.Update}:               kit.With(updateTargetGroup),
		{Kind: KindTargetGroup, Action: plan.Delete}:               deleteTargetGroup,
		{Kind: KindTargets, Action: plan.Update, Part: "targets+"}: registerTargets,
		{Kind: KindTargets, Action: plan.Update, Part: "targets-"}: deregisterTargets,
		{Kind: KindTargetAttr, Action: plan.Update}:                kit.With(setTargetAttributes),
		{Kind: KindListener, Action: plan.Create}:                  kit.With(createListener),
		{Kind: KindListener, Action: plan.Update}:                  kit.With(updateListener),
		{Kind: KindListener, Action: plan.Delete}:                  deleteListener,
	}
}

// updatedPart is the outcome of an update of a part of a Classic Load Balancer, which is
// known by the load balancer and its own name.
func updatedPart(c *change, spec stack.Spec, err error) plan.Outcome {
	return asPart(c, c.Updated(spec, err))
}

func asPart(c *change, o plan.Outcome) plan.Outcome {
	if o.Err == nil {
		k := c.Step.Target.Key
		o.After.ID = partID(*balancer(c), k.Kind, k.Name)
	}
	return o
}

// failed is the outcome of a call that ended with a fault.
func failed(err error) plan.Outcome { return kit.Failed(err) }
