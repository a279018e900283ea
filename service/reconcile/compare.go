package reconcile

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// compare computes the plan and applies the policies.
func (r *Reconciler) compare(ctx context.Context, job Job, p Parsed, v View, want *stack.Stack) (plan.Plan, error) {
	if v.Basis >= Remembered {
		r.holdAdmitting(p.Owner, v.Have)
	}
	r.recordIdentities(p, v.Basis, v.Have)
	changes, err := r.planChanges(ctx, p, v, want, v.Have)
	if err != nil {
		return plan.Plan{}, err
	}
	out := changes.Under(append(slices.Clone(r.options.Policies), r.holdingPolicies(job, p, v)...)...)
	if p.Intent != Release && !out.Writes() && len(out.Blocked) == 0 {
		out.Steps = nil // the end of a claim alone has no effect
	}
	return out, nil
}

// holdingPolicies returns the policies for a draft that are not the operator's.
func (r *Reconciler) holdingPolicies(job Job, p Parsed, v View) []plan.StepFilter {
	var out []plan.StepFilter
	if len(v.Blind) > 0 {
		out = append(out, holdUnseen(v.Blind, v.Have))
	}
	if members := p.Request.Backends.Nodes; members.FilteredOut() {
		out = append(out, keepMembers(members.Eligible(), r.listPopulated(v.Have)))
	}
	out = append(out, r.refused.filter(p.Asked))
	if r.keepsDrift(job, p) {
		out = append(out, keepDrift)
	}
	return out
}

// planChanges compares the desired with an observed stack, in time.
func (r *Reconciler) planChanges(ctx context.Context, p Parsed, v View, want, have *stack.Stack) (plan.Plan, error) {
	rules := r.cloud.Rules
	rules.Over = r.startDeadline(ctx)
	if p.Intent == Serve && r.cloud.KeepServing != nil {
		rules.Today = func() *stack.Stack { return r.cloud.KeepServing(p.Request, v.Facts, have) }
	}
	out := diff.Compare(want, have, rules, r.ledger)
	if rules.Over() {
		return plan.Plan{}, r.overdueError(ctx)
	}
	return out, nil
}

// holdAdmitting enters into the ledger what admits traffic and was found with evidence that it is
// the Service's: until its own run has replaced that, no other Service's run removes it.
func (r *Reconciler) holdAdmitting(o stack.Owner, have *stack.Stack) {
	var found []stack.Resource
	for _, res := range have.Resources {
		evident := res.Proof == stack.Tag || res.Proof == stack.Description || res.Proof == stack.Derived
		if evident && r.cloud.Rules.Kinds[res.Key.Kind].Role.Is(diff.Admits) {
			found = append(found, res)
		}
	}
	r.ledger.Hold(o, found)
}
