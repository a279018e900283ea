package wire

import (
	"context"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// change is one step at work.
type change = kit.Change[*Session]

// Apply performs the steps of one batch and returns one outcome for each.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	if b.Key == model.BatchPorts {
		return s.applyPorts(ctx, b)
	}
	return callTable().Apply(ctx, s, b)
}

// callTable returns the table of all write calls.
func callTable() kit.Verbs[*Session] {
	create, update, remove := plan.Create, plan.Update, plan.Delete
	return kit.Verbs[*Session]{
		{Kind: model.KindBalancer, Action: create}:                         kit.With(createBalancer),
		{Kind: model.KindBalancer, Action: update}:                         kit.With(updateBalancer),
		{Kind: model.KindBalancer, Action: update, Part: model.PartStatus}: kit.With(failOver),
		{Kind: model.KindBalancer, Action: remove}:                         deleteBalancer,
		{Kind: model.KindShare, Action: create}:                            kit.With(joinBalancer),
		{Kind: model.KindShare, Action: remove}:                            kit.With(leaveBalancer),
		{Kind: model.KindPool, Action: create}:                             kit.With(createPool),
		{Kind: model.KindPool, Action: update}:                             kit.With(updatePool),
		{Kind: model.KindPool, Action: remove}:                             deletePool,
		{Kind: model.KindMembers, Action: create}:                          kit.With(writeMembers),
		{Kind: model.KindMembers, Action: update, Part: "members"}:         kit.With(writeMembers),
		{Kind: model.KindMembers, Action: update, Part: plan.PartRewrite}:  kit.With(writeMembers),
		{Kind: model.KindPool, Action: update, Part: plan.PartRewrite}:     kit.With(updatePool),
		{Kind: model.KindMonitor, Action: update, Part: plan.PartRewrite}:  kit.With(updateMonitor),
		{Kind: model.KindListener, Action: update, Part: plan.PartRewrite}: kit.With(updateListener),
		{Kind: model.KindMonitor, Action: create}:                          kit.With(createMonitor),
		{Kind: model.KindMonitor, Action: update}:                          kit.With(updateMonitor),
		{Kind: model.KindMonitor, Action: remove}:                          deleteMonitor,
		{Kind: model.KindListener, Action: create}:                         kit.With(createListener),
		{Kind: model.KindListener, Action: update}:                         kit.With(updateListener),
		{Kind: model.KindListener, Action: remove}:                         deleteListener,
		{Kind: model.KindGroup, Action: create}:                            kit.With(createGroup),
		{Kind: model.KindGroup, Action: remove}:                            deleteGroup,
		{Kind: model.KindRules, Action: create}:                            kit.With(createRules),
		{Kind: model.KindRules, Action: update, Part: model.PartAdd}:       kit.With(addRules),
		{Kind: model.KindRules, Action: update, Part: model.PartRemove}:    kit.With(removeRules),
		{Kind: model.KindRules, Action: update, Part: model.PartOpen}:      kit.With(addRules),
		{Kind: model.KindRules, Action: update, Part: model.PartShut}:      kit.With(removeRules),
		{Kind: model.KindFloatingIP, Action: create}:                       kit.With(createFloating),
		{Kind: model.KindFloatingIP, Action: update}:                       kit.With(bindFloating),
		{Kind: model.KindFloatingIP, Action: update, Part: "keep"}:         kit.With(noteKept),
		{Kind: model.KindFloatingIP, Action: remove}:                       kit.With(deleteFloating),
		{Kind: model.KindBinding, Action: create}:                          kit.With(bindGiven),
		{Kind: model.KindBinding, Action: update}:                          kit.With(bindGiven),
		{Kind: model.KindBinding, Action: remove}:                          unbindGiven,
	}
}

// balancerOf is the id of the load balancer that a step's resource is below.
func balancerOf(c *change) string {
	if in := c.Step.Target.In; in.Kind == model.KindBalancer {
		return c.Batch.ID(c.Step, stack.RefTo(in))
	}
	return c.Batch.ID(c.Step, stack.RefTo(stack.Key{Kind: model.KindBalancer}))
}

// writeBelow sends a write call below the step's load balancer.
func writeBelow(c *change, r request, out any) error {
	id := balancerOf(c)
	if id == "" {
		return fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID)
	}
	return c.Session.change(c.Ctx, id, r, out)
}

// updateFields updates the changed fields of a part of the step's load balancer.
func updateFields[T any](c *change, kind codec.Kind[T], id string, spec T) error {
	return writeBelow(c, updateCall(c.Session, kind, id, kind.Update(spec, c.Changed(), c.Resolve)), nil)
}
