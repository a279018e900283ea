package wire

import (
	"context"
	"errors"
	"net/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// change is one step at work.
type change = kit.Change[*Session]

// Apply performs the steps of one batch and returns one outcome for each.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	if id, ok := model.ListOf(b.Key); ok {
		return s.applyEntries(ctx, b, id)
	}
	return callTable().Apply(ctx, s, b)
}

// callTable returns the table of all write calls.
func callTable() kit.Verbs[*Session] {
	create, update, remove := plan.Create, plan.Update, plan.Delete
	out := kit.Verbs[*Session]{
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartVersion}: kit.With(updateVersion),
		{Kind: model.KindBalancer, Action: update, Part: model.PartShape}:      kit.With(updateShape),
		{Kind: model.KindRuleSet, Action: create}:                              kit.With(createRuleSet),
		{Kind: model.KindRuleSet, Action: update}:                              kit.With(updateRuleSet),
		{Kind: model.KindRuleSet, Action: remove}:                              deletePart("ruleSets"),
		{Kind: model.KindCertificate, Action: create}:                          kit.With(createCertificate),
		{Kind: model.KindCertificate, Action: remove}:                          deletePart("certificates"),
		{Kind: model.KindGroup, Action: create}:                                kit.With(createGroup),
		{Kind: model.KindGroup, Action: remove}:                                deleteGroup,
		{Kind: model.KindGroupRules, Action: create}:                           kit.With(createRules),
		{Kind: model.KindGroupRules, Action: update, Part: model.PartAdd}:      kit.With(updateRules),
		{Kind: model.KindGroupRules, Action: update, Part: model.PartRemove}:   kit.With(updateRules),
		{Kind: model.KindGroupRules, Action: remove}:                           deleteRules,
	}
	for _, p := range model.Products() {
		out[kit.Verb{Kind: p.Balancer, Action: create}] = kit.With(createBalancer)
		out[kit.Verb{Kind: p.Balancer, Action: update, Part: model.PartGroups}] = kit.With(updateGroups)
		out[kit.Verb{Kind: p.Balancer, Action: remove}] = deleteBalancer
		out[kit.Verb{Kind: p.Set, Action: create}] = kit.With(createSet)
		out[kit.Verb{Kind: p.Set, Action: update}] = kit.With(updateSet)
		out[kit.Verb{Kind: p.Set, Action: remove}] = deletePart("backendSets")
		out[kit.Verb{Kind: p.Listener, Action: create}] = kit.With(createListener)
		out[kit.Verb{Kind: p.Listener, Action: update}] = kit.With(updateListener)
		out[kit.Verb{Kind: p.Listener, Action: remove}] = deletePart("listeners")
	}
	return out
}

// productOf is the API that a step is about.
func productOf(c *change) *product {
	p, _ := model.ProductOf(c.Step.Target.Key.Kind)
	return c.Session.kinds[p.Name]
}

// writePart sends a write call about the load balancer of a step, or about one of its
// parts.
func writePart(c *change, method string, body any, path ...string) error {
	p, id := productOf(c), c.Step.Target.ID
	if c.Step.Target.In != (stack.Key{}) {
		id = c.Batch.ID(c.Step, stack.RefTo(c.Step.Target.In))
	}
	if id == "" {
		return fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID)
	}
	return c.Session.change(c, p, id, request{method: method, path: p.path(id, path...), body: body}, awaitedOf(c, p))
}

// awaitedOf says how the change of a step shows in a list.
func awaitedOf(c *change, p *product) awaited {
	target := c.Step.Target
	switch {
	case target.Key.Kind == p.Balancer && c.Step.ID.Action == plan.Delete:
		return awaited{to: gone}
	case target.Key.Kind == p.Set || target.Key.Kind == p.Listener:
		return awaited{to: changed, applied: func(d balancerDoc) bool { return isApplied(p.Product, c.Step, d) }}
	}
	return awaited{to: changed}
}

// isApplied reports whether the backend set or listener of a load balancer is as a step
// wants it, or is deleted if the step deletes it.
func isApplied(p model.Product, step plan.Step, d balancerDoc) bool {
	f := &finder{out: &stack.Stack{}}
	if err := f.parts(p, step.Target.In, d); err != nil {
		return false
	}
	found, there := f.out.Get(step.Target.Key)
	if step.ID.Action == plan.Delete {
		return !there
	}
	return there && model.Same(step.Target, found)
}

// invalidIfMissing converts the not-found error of a create call that names other
// resources to an error that the configuration is invalid.
func invalidIfMissing(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Meaning != fault.NotFound {
		return err
	}
	return f.With(fault.Invalid, "; a resource that the Service or the configuration names does not exist, or the controller has no right to it")
}

func deletePart(collection string) func(*change) plan.Outcome {
	return func(c *change) plan.Outcome {
		return kit.Deleted(writePart(c, http.MethodDelete, nil, collection, c.Step.Target.ID))
	}
}
