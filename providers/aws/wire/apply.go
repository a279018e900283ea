package wire

import (
	"context"
	"maps"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/plan"
)

// Apply performs the steps of one batch and returns one outcome per step.
// Rules of node groups, listeners of Classic Load Balancers and tags go out together;
// every other step is a call of its own.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	out := s.apply(ctx, b)
	for i, o := range out {
		s.learnRefused(b.Steps[i], o)
		s.nameQuotas(ctx, b.Steps[i], o)
	}
	return out
}

func (s *Session) apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	if len(b.Steps) == 0 {
		return nil
	}
	first := b.Steps[0].ID
	switch {
	case first.Key.Kind == model.KindNodeRule:
		return s.applyNodeRules(ctx, b)
	case b.Key != "" && first.Part == model.PartTags:
		return s.applyTags(ctx, b)
	case first.Key.Kind == model.KindFrontRule:
		return s.applyFrontRules(ctx, b)
	case first.Key.Kind == model.KindClassicPort && first.Action == plan.Create:
		return s.createClassicListeners(ctx, b)
	case first.Key.Kind == model.KindClassicPort && first.Action == plan.Delete:
		return s.deleteClassicListeners(ctx, b)
	}
	table := callTable()
	for _, p := range listParts() {
		maps.Copy(table, p.verbs)
	}
	return table.Apply(ctx, s, b)
}

// change is one step at work.
type change = kit.Change[*Session]

// callTable returns the table of all single calls.
func callTable() kit.Verbs[*Session] {
	return kit.Verbs[*Session]{
		{Kind: model.KindGroup, Action: plan.Create}:                   kit.With(createGroup),
		{Kind: model.KindGroup, Action: plan.Delete}:                   deleteGroup,
		{Kind: model.KindIngress, Action: plan.Update, Part: "rules+"}: grantIngress,
		{Kind: model.KindIngress, Action: plan.Update, Part: "rules-"}: revokeIngress,

		{Kind: model.KindClassic, Action: plan.Create}:                         kit.With(createClassic),
		{Kind: model.KindClassic, Action: plan.Update, Part: "subnets"}:        kit.With(setClassicSubnets),
		{Kind: model.KindClassic, Action: plan.Update, Part: "groups"}:         kit.With(setClassicGroups),
		{Kind: model.KindClassic, Action: plan.Update, Part: "tags"}:           kit.With(tagClassic),
		{Kind: model.KindClassic, Action: plan.Delete}:                         deleteClassic,
		{Kind: model.KindClassicPort, Action: plan.Update}:                     kit.With(setClassicCertificate),
		{Kind: model.KindClassicPol, Action: plan.Create}:                      kit.With(createClassicPolicy),
		{Kind: model.KindClassicPol, Action: plan.Delete}:                      deleteClassicPolicy,
		{Kind: model.KindClassicSSL, Action: plan.Update}:                      kit.With(setListenerPolicies),
		{Kind: model.KindClassicBack, Action: plan.Update}:                     kit.With(setBackendPolicies),
		{Kind: model.KindClassicAttr, Action: plan.Update}:                     kit.With(setClassicAttributes),
		{Kind: model.KindClassicCheck, Action: plan.Update}:                    kit.With(setClassicCheck),
		{Kind: model.KindClassicInst, Action: plan.Update, Part: "instances+"}: registerInstances,
		{Kind: model.KindClassicInst, Action: plan.Update, Part: "instances-"}: deregisterInstances,

		{Kind: model.KindNetwork, Action: plan.Create}:                   kit.With(createNetwork),
		{Kind: model.KindNetwork, Action: plan.Update, Part: "subnets"}:  kit.With(setNetworkSubnets),
		{Kind: model.KindNetwork, Action: plan.Update, Part: "groups"}:   kit.With(setNetworkGroups),
		{Kind: model.KindNetwork, Action: plan.Delete}:                   deleteNetwork,
		{Kind: model.KindNetworkAttr, Action: plan.Update}:               ifOldest(kit.With(setNetworkAttributes)),
		{Kind: model.KindTargetGroup, Action: plan.Create}:               kit.With(createTargetGroup),
		{Kind: model.KindTargetGroup, Action: plan.Update}:               kit.With(updateTargetGroup),
		{Kind: model.KindTargetGroup, Action: plan.Delete}:               deleteTargetGroup,
		{Kind: model.KindTargets, Action: plan.Update, Part: "targets+"}: registerTargets,
		{Kind: model.KindTargets, Action: plan.Update, Part: "targets-"}: deregisterTargets,
		{Kind: model.KindTargetAttr, Action: plan.Update}:                kit.With(setTargetAttributes),
		{Kind: model.KindListener, Action: plan.Create}:                  ifOldest(kit.With(createListener)),
		{Kind: model.KindListener, Action: plan.Update}:                  kit.With(updateListener),
		{Kind: model.KindListener, Action: plan.Delete}:                  deleteListener,

		// Kind LBC alone.
		{Kind: model.KindNetwork, Action: plan.Update, Part: "address-type"}:       kit.With(setAddressType),
		{Kind: model.KindSharedGroup, Action: plan.Create}:                         kit.With(createSharedGroup),
		{Kind: model.KindSharedGroup, Action: plan.Delete}:                         deleteSharedGroup,
		{Kind: model.KindSharedNetwork, Action: plan.Create}:                       kit.With(createGroupNetwork),
		{Kind: model.KindSharedNetwork, Action: plan.Update, Part: "subnets"}:      ifOldest(kit.With(setNetworkSubnets)),
		{Kind: model.KindSharedNetwork, Action: plan.Update, Part: "groups"}:       ifOldest(kit.With(setNetworkGroups)),
		{Kind: model.KindSharedNetwork, Action: plan.Update, Part: "tags"}:         ifOldest(kit.With(tagNetwork)),
		{Kind: model.KindSharedNetwork, Action: plan.Update, Part: "address-type"}: ifOldest(kit.With(setAddressType)),
		{Kind: model.KindSharedNetwork, Action: plan.Delete}:                       unlessWanted(deleteNetwork),
		{Kind: model.KindFrontGroup, Action: plan.Create}:                          kit.With(createSharedGroup),
		{Kind: model.KindFrontGroup, Action: plan.Delete}:                          unlessWanted(deleteGroup),
	}
}

// asPart completes the outcome of a step on a part of a Classic Load Balancer, which is known by
// the load balancer and its own name.
func asPart(c *change, o plan.Outcome) plan.Outcome {
	if o.Err == nil {
		k := c.Step.Target.Key
		o.After.ID = model.PartID(*balancerName(c), k.Kind, k.Name)
	}
	return o
}
