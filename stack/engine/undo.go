package engine

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// repairs are the steps of a run that its plan does not have.
type repairs struct {
	restores []restore
	instead  []restore // updates in place of steps that were not performed, not sent yet
	undoing  []undoing // in the order of the refusals
}

// undoing is a replacement that is undone: the new resource is deleted, and then the old one is
// created again.
type undoing struct {
	pair plan.Pair
	sent bool // the deletion
}

// undoReplacements undoes the replacements that are of no use without a step that was refused,
// or cannot be tried because of a refusal.
func (r *run) undoReplacements(i int, res Result) {
	if !r.isRefused(i, res) {
		return
	}
	for _, pair := range res.Step.Undoes {
		if !slices.ContainsFunc(r.undoing, func(u undoing) bool { return u.pair == pair }) {
			r.undoing = append(r.undoing, undoing{pair: pair})
		}
	}
}

// startUndoing makes the next call that undoes a replacement once no other call is in flight. It
// is made even if the run is to end: nothing serves meanwhile.
func (r *run) startUndoing() {
	for at := 0; at < len(r.undoing) && len(r.calls) == 0; {
		next := &r.undoing[at]
		create, created := r.performed(next.pair.Create)
		remove, removed := r.performed(next.pair.Delete)
		now, exists := r.have.Get(next.pair.Create.Key) // only calls under way write to it
		switch {
		case !created || !removed || exists == next.sent:
			// The new one was not created, or is not deleted.
		case !next.sent:
			next.sent = true
			r.repair(next.pair.Create, deletionOf(create, remove, now), deletionOf(create, remove, now))
			return
		default:
			r.createAgain(create, lossFrom(r.began, remove.Target), "what completes the new one was refused")
		}
		r.undoing = slices.Delete(r.undoing, at, at+1)
	}
}

// performed returns a step of the plan, and whether it was performed.
func (r *run) performed(id plan.StepID) (plan.Step, bool) {
	at, ok := r.graph.At(id)
	if !ok {
		return plan.Step{}, false
	}
	return r.steps[at], r.results[at] != nil && r.results[at].State == Done
}

// deletionOf returns the step that deletes what has replaced another resource.
func deletionOf(create, remove plan.Step, made stack.Resource) plan.Step {
	id := create.ID
	id.Action = plan.Delete
	return plan.Step{
		ID: id, Target: made, Found: made.Spec, Reason: plan.Unwanted, Why: "what completes it was refused", Locks: create.Locks, Impact: remove.Impact,
	}
}

// Undone returns the replacements that were undone because of a result.
func (r Report) Undone(res Result) []plan.Pair {
	if res.State == Done {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(res.Step.Undoes), func(p plan.Pair) bool { return !r.createdAgain(p.Delete) })
}
