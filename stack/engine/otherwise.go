package engine

import (
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// updateInstead performs the updates in place of a deletion that the cloud has refused, and of
// a step that cannot be tried because of a refusal or waits for a gate. After a step that was
// performed, or may have been, nothing is updated.
func (r *run) updateInstead(i int, res Result) {
	if len(res.Step.Otherwise) == 0 || r.isReplaced(res.Step) {
		return
	}
	cause := &res
	if r.causes[i] != nil {
		cause = r.causes[i]
	}
	var stays bool
	switch res.State {
	case Failed:
		stays = res.IsRefused() && res.Step.ID.Action == plan.Delete
	case Skipped:
		overloaded := fault.Is(cause.Outcome.Err, fault.Unavailable) || fault.Is(cause.Outcome.Err, fault.Throttled)
		stays = cause.State == Failed && !overloaded
	case Waiting:
		stays = cause.isGated()
	case Done:
	}
	for _, s := range res.Step.Otherwise {
		if !stays || s.ID.Action == plan.Create && res.State == Waiting {
			continue
		}
		r.instead = append(r.instead, restore{of: res.Step.ID, Result: Result{Step: s}})
	}
}

// startInstead sends steps in place of others: updates as soon as there is room for them,
// creates of what was deleted when no other step is in flight.
func (r *run) startInstead() {
	idle := len(r.calls) == 0 && len(r.ready) == 0
	var later []restore
	for _, next := range r.instead {
		creates := next.Step.ID.Action == plan.Create
		_, exists := r.have.Get(next.Step.ID.Key) // only calls under way write to it
		switch {
		case creates && !idle, len(r.calls) >= r.engine.options.PerOwner:
			later = append(later, next)
		case creates && exists: // its deletion was not performed either
		default:
			r.repair(next.of, next.Step, next.Step)
		}
	}
	r.instead = later
}

// isGated reports whether a step was not tried because its gate is closed.
func (r Result) isGated() bool {
	return r.State == Waiting && !r.Step.Gate.IsZero() && r.Outcome.Err == nil && r.Outcome.Sent == plan.NotSent && r.Because == (plan.StepID{})
}

// isReplaced reports whether a new resource has the key of the one that the step deletes: an
// update by key would be made to the new one.
func (r *run) isReplaced(s plan.Step) bool {
	if !replacedBefore(s) {
		return false
	}
	at, ok := r.graph.At(s.Pair.Create)
	return ok && r.results[at].State == Done
}

// countRemedies returns how many calls may be made in place of steps that are not performed. A
// resource that is restored may have any of the others as parts.
func countRemedies(steps []plan.Step, have *stack.Stack) int {
	n := 0
	for _, s := range steps {
		n += len(s.Otherwise) + 2*len(s.Undoes)
	}
	if slices.ContainsFunc(steps, func(s plan.Step) bool { return s.Pair.Restore }) {
		n += len(have.Resources)
	}
	return n
}
