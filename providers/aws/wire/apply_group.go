package wire

import (
	"cmp"
	"context"
	"slices"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createGroupNetwork makes the load balancer of a group; the tags prove whose it is.
func createGroupNetwork(c *change, spec model.Network) plan.Outcome {
	return withMarkProof(createNetwork(c, spec))
}

// unlessWanted leaves what members of a group share alone when one has come that wants it.
func unlessWanted(remove func(*change) plan.Outcome) func(*change) plan.Outcome {
	return func(c *change) plan.Outcome {
		if c.Batch.Claims != nil && len(c.Batch.Claims.Others(c.Step.ID.Owner, c.Step.Target)) > 0 {
			return kit.Failed(fault.New(fault.Conflict, "%s: a Service that wants it has come since, so it stays", c.Step.Target.Key))
		}
		return remove(c)
	}
}

// ifOldest leaves the say to an older member that has come since the plan was made.
func ifOldest(write func(*change) plan.Outcome) func(*change) plan.Outcome {
	return func(c *change) plan.Outcome {
		if err := yieldsTo(c, c.Step.Target); err != nil {
			return kit.Failed(err)
		}
		return write(c)
	}
}

// yieldsTo is a Conflict if an older Service wants the same, or has the say.
func yieldsTo(c *change, r stack.Resource) error {
	if c.Batch.Claims == nil || r.Key.Kind != model.KindSharedNetwork && r.In.Kind != model.KindSharedNetwork {
		return nil
	}
	if r.Key.Kind == model.KindNetworkAttr {
		r = stack.Resource{Key: r.In}
	}
	if o, older := c.Batch.Claims.Older(c.Step.ID.Owner, r); older {
		return fault.New(fault.Conflict, "%s: Service %s, which is older, has come since", r.Key, o)
	}
	return nil
}

// applyFrontRules lets clients of any members in, or shuts them out, in one call.
func (s *Session) applyFrontRules(ctx context.Context, b plan.Batch) []plan.Outcome {
	first, _ := b.Steps[0].Target.Spec.(model.FrontRule)
	group := cmp.Or(first.Group, b.ID(b.Steps[0], stack.RefTo(b.Steps[0].Target.In)))
	var rules []model.FoundRule
	for _, step := range b.Steps {
		rule, _ := step.Target.Spec.(model.FrontRule)
		found := model.FoundRule{Permission: model.Normal(rule.Permission)}
		wanted := step.ID.Action == plan.Delete && b.Claims != nil && len(b.Claims.Others(step.ID.Owner, step.Target)) > 0
		if !wanted && !slices.Contains(rules, found) {
			rules = append(rules, found)
		}
	}
	removes := b.Steps[0].ID.Action == plan.Delete
	call := func(part []model.FoundRule) error {
		if removes {
			return s.revoke(ctx, group, part)
		}
		return s.authorize(ctx, group, part)
	}
	err := s.mergeAgain(ctx, group, func(found map[model.Permission]bool) error {
		return call(slices.DeleteFunc(slices.Clone(rules), func(r model.FoundRule) bool { return found != nil && found[r.Permission] != removes }))
	})
	return s.frontOutcomes(b, group, removes, err, call)
}

// frontOutcomes returns the outcome of each step. Where a call was refused for one of
// the rules, each is tried alone.
func (s *Session) frontOutcomes(b plan.Batch, group string, removes bool, err error, call func([]model.FoundRule) error) []plan.Outcome {
	out := make([]plan.Outcome, 0, len(b.Steps))
	alone := !removes && len(b.Steps) > 1 && fault.OfMember(err)
	for _, step := range b.Steps {
		rule, _ := step.Target.Spec.(model.FrontRule)
		its := err
		if alone {
			if its = call([]model.FoundRule{{Permission: model.Normal(rule.Permission)}}); isRuleConflict(its) {
				its = nil
			}
		}
		switch {
		case removes:
			out = append(out, kit.Deleted(its))
		case its != nil:
			out = append(out, kit.Failed(its))
		default:
			after := step.Target
			rule.Group, rule.Listener = group, stack.Ref{} // as a read shows it
			after.Spec = rule
			after.ID, after.Proof = after.Key.Name, stack.Leftover
			out = append(out, plan.Done(after))
		}
	}
	return out
}
