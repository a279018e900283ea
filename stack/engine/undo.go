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
// created again. A new resource may have replaced several, and several new ones an old one.
type undoing struct {
	pair plan.Pair
	sent bool // the deletion
	gone bool // all new ones are deleted
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

// startUndoing makes the next call that undoes replacements once no other call is in flight: all
// new resources are deleted before an old one is created. It is made even if the run is to end:
// nothing serves meanwhile.
func (r *run) startUndoing() {
	if len(r.calls) > 0 {
		return
	}
	r.undoing = slices.DeleteFunc(r.undoing, r.cannotUndo)
	if len(r.undoing) == 0 {
		return
	}
	next, gone := r.undoing[0], true
	if at := slices.IndexFunc(r.undoing, func(u undoing) bool { return !u.sent }); at >= 0 {
		next, gone = r.undoing[at], false
	}
	create, _ := r.performed(next.pair.Create)
	remove, _ := r.performed(next.pair.Delete)
	if gone {
		for i := range r.undoing {
			r.undoing[i].gone = true
		}
		r.undoing = slices.DeleteFunc(r.undoing, func(u undoing) bool { return u.pair.Delete == next.pair.Delete })
		r.createAgain(create, lossFrom(r.began, remove.Target), "what completes the new one was refused")
		return
	}
	for i, u := range r.undoing {
		r.undoing[i].sent = u.sent || u.pair.Create == next.pair.Create
	}
	now, _ := r.have.Get(next.pair.Create.Key)
	r.repair(next.pair.Create, deletionOf(create, remove, now), deletionOf(create, remove, now))
}

// cannotUndo reports whether a replacement was not performed as a whole, or its new resource
// could not be deleted.
func (r *run) cannotUndo(u undoing) bool {
	_, created := r.performed(u.pair.Create)
	_, removed := r.performed(u.pair.Delete)
	_, exists := r.have.Get(u.pair.Create.Key) // only calls under way write to it
	return !u.gone && (!created || !removed || exists == u.sent)
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
