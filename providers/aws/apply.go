package aws

import (
	"cmp"
	"context"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Apply performs the steps of one batch and returns one outcome per step.
// Rules of node groups and listeners of Classic Load Balancers go out together;
// every other step is a call of its own.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	if len(b.Steps) == 0 {
		return nil
	}
	first := b.Steps[0].ID
	switch {
	case first.Key.Kind == KindNodeRule:
		return s.applyNodeRules(ctx, b)
	case first.Key.Kind == KindClassicPort && first.Action == plan.Create:
		return s.createClassicListeners(ctx, b)
	case first.Key.Kind == KindClassicPort && first.Action == plan.Delete:
		return s.deleteClassicListeners(ctx, b)
	}
	out := make([]plan.Outcome, 0, len(b.Steps))
	for _, step := range b.Steps {
		out = append(out, s.apply(&change{Session: s, ctx: ctx, batch: b, step: step}))
	}
	return out
}

// change is one step at work.
type change struct {
	*Session
	ctx   context.Context
	batch plan.Batch
	step  plan.Step
}

// verb is what a step does, down to the part that its call writes.
type verb struct {
	kind   stack.Kind
	action plan.Action
	part   string
}

// verbs is the table of all single calls.
func verbs() map[verb]func(*change) plan.Outcome {
	return map[verb]func(*change) plan.Outcome{
		{KindGroup, plan.Create, ""}:         with(createGroup),
		{KindGroup, plan.Delete, ""}:         deleteGroup,
		{KindIngress, plan.Update, "rules+"}: grantIngress,
		{KindIngress, plan.Update, "rules-"}: revokeIngress,

		{KindClassic, plan.Create, ""}:               with(createClassic),
		{KindClassic, plan.Update, "subnets+"}:       attachSubnets,
		{KindClassic, plan.Update, "subnets-"}:       detachSubnets,
		{KindClassic, plan.Update, "groups"}:         with(setClassicGroups),
		{KindClassic, plan.Update, "tags"}:           with(tagClassic),
		{KindClassic, plan.Delete, ""}:               deleteClassic,
		{KindClassicPol, plan.Create, ""}:            with(createClassicPolicy),
		{KindClassicPol, plan.Delete, ""}:            deleteClassicPolicy,
		{KindClassicSSL, plan.Update, ""}:            with(setListenerPolicies),
		{KindClassicBack, plan.Update, ""}:           with(setBackendPolicies),
		{KindClassicAttr, plan.Update, ""}:           with(setClassicAttributes),
		{KindClassicCheck, plan.Update, ""}:          with(setClassicCheck),
		{KindClassicInst, plan.Update, "instances+"}: registerInstances,
		{KindClassicInst, plan.Update, "instances-"}: deregisterInstances,

		{KindNetwork, plan.Create, ""}:         with(createNetwork),
		{KindNetwork, plan.Update, "groups"}:   with(setNetworkGroups),
		{KindNetwork, plan.Delete, ""}:         deleteNetwork,
		{KindNetworkAttr, plan.Update, ""}:     with(setNetworkAttributes),
		{KindTargetGroup, plan.Create, ""}:     with(createTargetGroup),
		{KindTargetGroup, plan.Update, ""}:     with(updateTargetGroup),
		{KindTargetGroup, plan.Delete, ""}:     deleteTargetGroup,
		{KindTargets, plan.Update, "targets+"}: registerTargets,
		{KindTargets, plan.Update, "targets-"}: deregisterTargets,
		{KindTargetAttr, plan.Update, ""}:      with(setTargetAttributes),
		{KindListener, plan.Create, ""}:        with(createListener),
		{KindListener, plan.Update, ""}:        with(updateListener),
		{KindListener, plan.Delete, ""}:        deleteListener,
	}
}

// with hands a step to the function for its spec; a step with another spec is a
// defect of the plan.
func with[T any](run func(*change, T) plan.Outcome) func(*change) plan.Outcome {
	return func(c *change) plan.Outcome {
		spec, ok := c.step.Target.Spec.(T)
		if !ok {
			return plan.Failed(fault.New(fault.Internal, "%s: its content is a %T", c.step.ID, c.step.Target.Spec))
		}
		return run(c, spec)
	}
}

func (s *Session) apply(c *change) plan.Outcome {
	id := c.step.ID
	// From its second chunk on the part of a set carries a number.
	part := strings.TrimRight(id.Part, "0123456789")
	run, ok := verbs()[verb{id.Key.Kind, id.Action, part}]
	if !ok {
		return plan.Failed(fault.New(fault.Internal, "%s: there is no call that does this", id))
	}
	return run(c)
}

// id is the identifier of the step's resource. What is found has one; an
// inherent resource of a parent that has just been made is known by that parent.
func (c *change) id() string {
	t := c.step.Target
	return cmp.Or(t.ID, c.batch.ID(c.step, stack.RefTo(t.In)), c.batch.ID(c.step, stack.RefTo(t.Key)))
}

// parent is the identifier of what the step's resource is in.
func (c *change) parent() string { return c.batch.ID(c.step, stack.RefTo(c.step.Target.In)) }

// ids resolves references, in order.
func (c *change) ids(refs []stack.Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, c.batch.ID(c.step, r))
	}
	return out
}

// created is the outcome of a creation.
func (c *change) created(id string, proof stack.Proof, spec stack.Spec) plan.Outcome {
	r := c.step.Target
	r.ID, r.Proof, r.Spec = id, proof, spec
	return plan.Done(r)
}

// updated is the outcome of an update after which the resource has the spec.
func (c *change) updated(spec stack.Spec, err error) plan.Outcome {
	if err != nil {
		return failed(err)
	}
	r := c.step.Target
	r.ID, r.Spec = c.id(), spec
	switch r.Key.Kind {
	case KindClassicSSL, KindClassicBack, KindClassicAttr, KindClassicCheck, KindClassicInst:
		r.ID = partID(*c.balancer(), string(r.Key.Kind), r.Key.Name)
	}
	return plan.Done(r)
}

// deleted is the outcome of a deletion: what is not there is gone.
func deleted(err error) plan.Outcome {
	if err == nil || fault.Is(err, fault.NotFound) {
		return plan.Outcome{Sent: plan.WasSent}
	}
	return failed(err)
}

// failed is the outcome of a call that ended with a fault.
func failed(err error) plan.Outcome { return plan.Outcome{Err: err, Sent: sent(err)} }

// sent says whether a call with this fault may have taken effect.
func sent(err error) plan.Sent {
	if fault.Is(err, fault.Ambiguous) {
		return plan.MaybeSent
	}
	return plan.NotSent
}

// every is the same outcome for all steps of a batch.
func every(b plan.Batch, o plan.Outcome) []plan.Outcome {
	out := make([]plan.Outcome, len(b.Steps))
	for i := range out {
		out[i] = o
	}
	return out
}
