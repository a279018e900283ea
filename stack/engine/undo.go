package engine

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// repairs are the steps of a run that its plan does not have.
type repairs struct {
	restores []restore
	instead  []restore // updates in place of steps that were not performed, not sent yet
	undoing  []undoing // in the order of the refusals
	again    []again   // old resources that are to be created, not sent yet
}

// undoing is a replacement that is undone: the new resource is deleted, and then the old one is
// created again. A new resource may have replaced several, and several new ones an old one.
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

// startUndoing makes the next call that undoes replacements once no other call is in flight: all
// new resources are deleted, the last one first, before an old one is created. It is made even if
// the run is to end: nothing serves meanwhile.
func (r *run) startUndoing() {
	if len(r.calls) > 0 {
		return
	}
	r.undoing = slices.DeleteFunc(r.undoing, r.cannotUndo)
	var next plan.Pair
	for _, u := range r.undoing {
		if !u.sent && (next.IsZero() || r.isBehind(u.pair.Create, next.Create)) {
			next = u.pair
		}
	}
	if next.IsZero() {
		for _, u := range r.undoing {
			create, _ := r.performed(u.pair.Create)
			remove, _ := r.performed(u.pair.Delete)
			r.createAgain(create, lossOf(r.began, remove), "what completes the new one was refused")
		}
		r.revertUpdates()
		r.undoing = nil
		return
	}
	for i, u := range r.undoing {
		r.undoing[i].sent = u.sent || u.pair.Create == next.Create
	}
	create, _ := r.performed(next.Create)
	remove, _ := r.performed(next.Delete)
	now, _ := r.have.Get(next.Create.Key)
	step := deletionOf(create, remove, now)
	if create.ID.Action == plan.Update {
		step = reversalOf(create, "what completes it was refused")
	}
	r.repair(next.Create, step, step)
}

// revertUpdates has the updates undone that completed one of the undone replacements, such as those of
// a firewall that admits the clients of the old resource no longer.
func (r *run) revertUpdates() {
	for i, s := range r.steps {
		isUndone := func(p plan.Pair) bool {
			return slices.ContainsFunc(r.undoing, func(u undoing) bool { return u.pair == p })
		}
		isHalf := s.Pair.Restore && (s.Pair.Create == s.ID || s.Pair.Delete == s.ID)
		if s.ID.Action == plan.Update && !isHalf && r.results[i].State == Done && slices.ContainsFunc(s.Undoes, isUndone) {
			step := reversalOf(s, "what else completes the new one was refused")
			r.repair(s.ID, step, step)
		}
	}
}

// reversalOf returns the update that writes what another one has replaced. Members are added to a
// set, or removed, by the step that the set has for all of them.
func reversalOf(s plan.Step, why string) plan.Step {
	out := plan.Step{ID: s.ID, Target: s.Target, Found: s.Target.Spec, Reason: plan.Changed, Why: why, Waits: plan.Waits{Locks: s.Locks}, Impact: s.Impact}
	out.Target.Spec = s.Found
	for _, ch := range s.Changes {
		ch.From, ch.To, ch.Added, ch.Removed = ch.To, ch.From, ch.Removed, ch.Added
		out.Changes = append(out.Changes, ch)
		if sign, isSet := reversedSign(s.ID.Part); isSet {
			out.ID.Part = strings.ToLower(ch.Field) + sign
		}
	}
	return out
}

// reversedSign returns the sign of the opposite of a step that adds to a set or removes from it.
func reversedSign(part string) (sign string, isSet bool) {
	switch part = strings.TrimRight(part, "0123456789"); {
	case strings.HasSuffix(part, "+"):
		return "-", true
	case strings.HasSuffix(part, "-"):
		return "+", true
	}
	return "", false
}

// owed returns the steps that a run still performs when it ends: creates of new resources whose old
// ones it has deleted, the other steps of such a replacement, and what these need, by their place.
func (r *run) owed(ends bool) []bool {
	if !ends {
		return nil
	}
	var creates []int
	for i, s := range r.steps {
		at, ok := r.graph.At(s.Pair.Create)
		if !ok || s.Pair.Delete != s.ID || s.Pair.Order != plan.DeleteFirst || r.results[i].State != Done {
			continue
		}
		creates = append(creates, at)
		for j, t := range r.steps {
			if t.Pair.Restore && slices.Contains(t.Undoes, s.Pair) {
				creates = append(creates, j)
			}
		}
	}
	out := r.graph.Before(creates)
	for _, i := range creates {
		out[i] = true
	}
	return out
}

// isBehind reports whether a step needs another one, directly or through others.
func (r *run) isBehind(step, other plan.StepID) bool {
	at, _ := r.graph.At(step)
	before, _ := r.graph.At(other)
	return r.graph.Before([]int{at})[before]
}

// cannotUndo reports whether a replacement was not performed as a whole, or its new resource
// could not be deleted.
func (r *run) cannotUndo(u undoing) bool {
	return !r.wasReplaced(u) || r.exists(u.pair.Create) == u.sent
}

// exists reports whether there is what a step of the plan has created or added. Only calls under way change that.
func (r *run) exists(made plan.StepID) bool {
	if made.Action == plan.Update {
		return !slices.ContainsFunc(r.restores, func(o restore) bool { return o.of == made && o.State == Done })
	}
	_, exists := r.have.Get(made.Key)
	return exists
}

// mayBeReplaced reports whether a replacement that is to be undone was performed as a whole, or
// its new resource may still be created.
func (r *run) mayBeReplaced(u undoing) bool {
	at, known := r.graph.At(u.pair.Create)
	return r.wasReplaced(u) || known && !r.isEnded(at)
}

// wasReplaced reports whether a replacement was performed as a whole.
func (r *run) wasReplaced(u undoing) bool {
	_, created := r.performed(u.pair.Create)
	_, removed := r.performed(u.pair.Delete)
	return created && removed
}

// performed returns a step of the plan, and whether it was performed.
func (r *run) performed(id plan.StepID) (plan.Step, bool) {
	at, ok := r.graph.At(id)
	if !ok {
		return plan.Step{}, false
	}
	return r.steps[at], r.results[at].State == Done
}

// deletionOf returns the step that deletes what has replaced another resource.
func deletionOf(create, remove plan.Step, made stack.Resource) plan.Step {
	id := create.ID
	id.Action = plan.Delete
	return plan.Step{
		ID: id, Target: made, Found: made.Spec, Reason: plan.Unwanted, Why: "what completes it was refused", Waits: plan.Waits{Locks: create.Locks}, Impact: remove.Impact,
	}
}

// Undone returns the replacements that were undone because of a result.
func (r Report) Undone(res Result) []plan.Pair {
	if res.State == Done {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(res.Step.Undoes), func(p plan.Pair) bool { return !r.createdAgain(p.Delete) })
}
