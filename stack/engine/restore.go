package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// partRestore begins the part, in reports, of a step that creates an old resource again or
// takes back an update.
const partRestore = "restore"

// IsRefused reports whether the cloud has answered that it does not perform the step, so that
// a retry does not help.
func (r Result) IsRefused() bool {
	if r.State != Failed || r.Outcome.Sent != plan.NotSent {
		return false
	}
	switch fault.Of(r.Outcome.Err) {
	case fault.Invalid, fault.Taken, fault.Quota, fault.Denied, fault.NotFound, fault.Internal:
		return true
	default:
		return false
	}
}

// isRefused reports whether a step was refused, or cannot be tried because of a refusal.
func (r *run) isRefused(i int, res Result) bool {
	return res.IsRefused() || res.State == Skipped && r.causes[i] != nil && r.causes[i].IsRefused()
}

// restoreOld creates the old resources again where the new one, for which they were deleted, was
// refused or cannot be tried because of a refusal.
func (r *run) restoreOld(i int, res Result) {
	if res.State == Done && r.isPointless(i) { // it was under way
		i = r.createOf(i)
		res = r.results[i]
	}
	if !isCreate(res.Step) || !r.isRefused(i, res) {
		return
	}
	for _, old := range r.engine.losses.lossesOf(lossID{res.Step.ID.Owner, res.Step.ID.Key}) {
		r.createAgain(res.Step, old, "the new one was refused")
	}
}

// createOf returns the place of the create that a deletion makes room for; -1: there is none.
func (r *run) createOf(i int) int {
	s := r.steps[i]
	if at, ok := r.graph.At(s.Pair.Create); ok && s.Pair.Restore && s.Pair.Delete == s.ID {
		return at
	}
	return -1
}

// isPointless reports whether a step deletes an old resource for a new one that was refused, or
// cannot be tried because of a refusal.
func (r *run) isPointless(i int) bool {
	at := r.createOf(i)
	return at >= 0 && r.isEnded(at) && r.isRefused(at, r.results[at])
}

// causeOf returns the original cause of the result of a step.
func (r *run) causeOf(i int) *Result {
	if r.causes[i] != nil {
		return r.causes[i]
	}
	return &r.results[i]
}

// again is an old resource that is created in place of the one that a step creates.
type again struct {
	of  plan.Step
	old loss
	why string
}

// createAgain has an old resource and its parts created again in place of the one that a step
// creates, once.
func (r *run) createAgain(create plan.Step, old loss, why string) {
	if create.ID.Key.Kind != old.resource.Key.Kind {
		create.Batch = "" // that of another kind
	}
	by := old.restoredBy()
	if !slices.ContainsFunc(r.again, func(a again) bool { return a.old.restoredBy() == by }) && r.restoredBy(by) == nil {
		r.again = append(r.again, again{create, old, why})
	}
	create.Batch = ""
	for _, part := range old.parts {
		r.createAgain(create, part, why)
	}
}

// startAgain submits the creates of old resources, each after those of what it needs. They wait
// until the new resources are deleted. The calls are made even if the run is to end: nothing
// serves meanwhile.
func (r *run) startAgain() {
	if slices.ContainsFunc(r.undoing, r.mayBeReplaced) {
		return
	}
	left := r.again
	r.again = nil
	for _, a := range left {
		state := r.stateOfNeeds(a.old.resource, left)
		if state == Waiting {
			r.again = append(r.again, a)
			continue
		}
		step := r.stepAgain(a)
		known := step // to the cloud it is a step like any other
		known.ID = a.old.restoredBy()
		known.ID.Owner = step.ID.Owner
		if state == Done {
			r.repair(a.of.ID, step, known)
		} else {
			r.restores = append(r.restores, restore{of: a.of.ID, Result: Result{Step: known, State: state}})
		}
	}
}

// stepAgain returns the step that restores an old resource, or takes back an update of it.
func (r *run) stepAgain(a again) plan.Step {
	if a.old.update != nil {
		return reversalOf(*a.old.update, a.why)
	}
	id := plan.StepID{Owner: a.of.ID.Owner, Key: a.old.resource.Key, Action: plan.Create}
	return plan.Step{ID: id, Target: r.asBefore(a.old), Reason: plan.Missing, Why: a.why, Waits: plan.Waits{Locks: a.old.locks}, Batch: a.of.Batch}
}

// stateOfNeeds returns the state of the old resources that another one refers to or is In: Done
// if they exist or were never deleted.
func (r *run) stateOfNeeds(old stack.Resource, left []again) State {
	needs := []stack.Key{old.In}
	for _, ref := range stack.Refs(old.Spec) {
		needs = append(needs, r.keyOf(ref))
	}
	state := Done
	for _, key := range needs {
		switch sent := r.recreated(key); {
		case key == stack.Key{} || key == old.Key:
		case sent != nil && sent.State != Done && sent.State != Waiting:
			return Skipped
		case sent != nil && sent.State == Waiting, slices.ContainsFunc(left, func(a again) bool { return a.old.resource.Key == key }):
			state = Waiting
		}
	}
	return state
}

// keyOf returns the key of what a reference leads to.
func (r *run) keyOf(ref stack.Ref) stack.Key {
	if at := slices.IndexFunc(r.began.Resources, func(o stack.Resource) bool { return ref.ID != "" && o.ID == ref.ID }); at >= 0 {
		return r.began.Resources[at].Key
	}
	return ref.To
}

// recreated returns the create of an old resource that was submitted; nil: there is none.
func (r *run) recreated(key stack.Key) *Result {
	return r.restoredBy(restoreOf(plan.StepID{Key: key, Action: plan.Delete}))
}

// restoredBy returns a step that restores something and was submitted; nil: there is none.
func (r *run) restoredBy(by plan.StepID) *Result {
	for i, o := range r.restores {
		if by.Owner = o.Step.ID.Owner; o.Step.ID == by {
			return &r.restores[i].Result
		}
	}
	return nil
}

// repair submits a step that the plan does not have, in place of one that was not performed.
// It is reported as another step. The call is made even if the run is to end.
func (r *run) repair(of plan.StepID, step, reported plan.Step) {
	r.restores = append(r.restores, restore{of: of, Result: Result{Step: reported, State: Waiting}})
	place := -len(r.restores)
	r.calls[callOfRestore(place)]++
	r.engine.batcher.submit(step.Batch, []item{{ctx: context.WithoutCancel(r.ctx), step: step, place: place, ids: r.resolve, completed: r.completed}})
}

// asBefore returns a lost resource with its original references.
func (r *run) asBefore(l loss) stack.Resource {
	r.mu.RLock()
	defer r.mu.RUnlock()
	old := l.resource
	old.ID = ""
	old.Spec = stack.Rebind(old.Spec, func(ref stack.Ref) stack.Ref {
		now, _ := r.have.Get(ref.To)
		if key := r.keyOf(ref); ref.ID != "" && r.recreated(key) != nil {
			return stack.RefTo(key)
		}
		if id := l.ids[ref.To]; id != "" && id != now.ID && r.recreated(ref.To) == nil {
			return stack.RefID(id)
		}
		return ref
	})
	return old
}

// callOfRestore names the call of a restore by its place, which is negative.
func callOfRestore(place int) string { return "\x00restore" + strconv.Itoa(-place) }

// recordRestore records the outcome of a restore.
func (r *run) recordRestore(c completion) {
	at := -c.place - 1
	res := resultOf(r.restores[at].Step, c.outcome)
	r.restores[at].Result = res
	if res.State == Done {
		r.mu.Lock()
		Learn(r.have, res.Step, res.Outcome)
		r.mu.Unlock()
		if strings.HasPrefix(res.Step.ID.Part, partRestore) {
			of := r.restores[at].of
			r.engine.losses.learnRestore(lossID{of.Owner, of.Key}, res.Step.ID)
			r.followRestored(res.Step.ID.Key)
		}
	}
	r.engine.options.Observe(res)
}

// followRestored has the backends of today written to a resource that exists again.
func (r *run) followRestored(key stack.Key) {
	now, _ := r.have.Get(key) // only this goroutine writes to it
	for _, s := range r.steps {
		if _, removed := r.performed(s.ID); s.ID.Action != plan.Delete || !removed {
			continue
		}
		for _, update := range s.Otherwise {
			if update.ID.Key == key && update.ID.Action == plan.Update {
				update.Target.ID = now.ID
				r.instead = append(r.instead, restore{of: s.ID, Result: Result{Step: update}})
			}
		}
	}
}

// restore is a step in place of one that was not performed: the create of an old resource, or
// an update of one that was not deleted.
type restore struct {
	of plan.StepID // the refused one
	Result
}

// isRestored reports whether the resource that a refused create was to replace exists again.
func (r Report) isRestored(refused plan.Step) bool {
	taken := refused.ID
	if refused.Pair.Restore {
		taken = refused.Pair.Delete
	}
	return r.createdAgain(taken)
}

// createdAgain reports whether what a step has taken away was restored.
func (r Report) createdAgain(taken plan.StepID) bool {
	again := restoreOf(taken)
	return slices.ContainsFunc(r.Results, func(res Result) bool { return res.Step.ID == again && res.State == Done })
}
