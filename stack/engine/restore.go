package engine

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// partRestore is the part, in reports, of a step that creates an old resource again.
const partRestore = "restore"

// losses are the resources that were deleted for a replacement which does not exist yet.
// The zero value is empty. They outlive a run: a create whose result is unknown is read
// first, and may be refused in a later run.
type losses struct {
	mu    sync.Mutex
	lost  map[lossID][]loss
	owned map[stack.Owner]int // how many of each owner
}

// loss is a deleted resource with its parts, and with the identifiers of its references: their
// keys may belong to replacements by now.
type loss struct {
	resource stack.Resource
	ids      map[stack.Key]string
	parts    []loss
}

// lossID names a loss by the resource that was to replace it.
type lossID struct {
	owner stack.Owner
	key   stack.Key
}

// learnStep updates the losses of the owner after a done step of a run that began with
// have.
func (l *losses) learnStep(s plan.Step, have *stack.Stack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := lossID{s.ID.Owner, s.ID.Key}
	deletes := s.ID.Action == plan.Delete && s.Pair.Restore && s.Pair.Delete == s.ID
	if deletes {
		id.key = s.Pair.Create.Key
	}
	known := l.lost[id]
	switch {
	case deletes:
		if l.lost == nil {
			l.lost, l.owned = map[lossID][]loss{}, map[stack.Owner]int{}
		}
		if len(known) == 0 {
			l.owned[id.owner]++
		}
		known = slices.DeleteFunc(known, func(o loss) bool { return o.resource.Key == s.Target.Key })
		l.lost[id] = append(known, lossFrom(have, s.Target))
	case len(known) > 0 && s.ID.Action == plan.Create:
		l.dropLoss(id)
	}
}

// learnRestore updates the losses after a resource exists again.
func (l *losses) learnRestore(id lossID, again stack.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := slices.DeleteFunc(l.lost[id], func(o loss) bool { return o.resource.Key == again })
	switch {
	case len(left) > 0:
		l.lost[id] = left
	case l.lost[id] != nil:
		l.dropLoss(id)
	}
}

// lossFrom returns the loss of a resource of an observed stack.
func lossFrom(have *stack.Stack, r stack.Resource) loss {
	lost := loss{resource: r, ids: map[stack.Key]string{}}
	for _, ref := range stack.Refs(r.Spec) {
		if used, exists := have.Get(ref.To); exists {
			lost.ids[ref.To] = used.ID
		}
	}
	for _, part := range have.Resources {
		if part.In == r.Key {
			lost.parts = append(lost.parts, lossFrom(have, part))
		}
	}
	return lost
}

// count returns the number of the lost resources.
func (l loss) count() int {
	n := 1
	for _, part := range l.parts {
		n += part.count()
	}
	return n
}

func (l *losses) dropLoss(id lossID) {
	delete(l.lost, id)
	if l.owned[id.owner]--; l.owned[id.owner] <= 0 {
		delete(l.owned, id.owner)
	}
}

// pruneFor drops the losses of a plan's owner that the plan does not create any more, and
// returns how many resources are left.
func (l *losses) pruneFor(p plan.Plan) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owned[p.Owner] == 0 {
		return 0
	}
	creates := func(k stack.Key) bool {
		return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID.Key == k && s.ID.Action == plan.Create }) ||
			slices.ContainsFunc(p.Blocked, func(b plan.Blocked) bool { return b.Step.ID.Key == k && b.Step.ID.Action == plan.Create })
	}
	left := 0
	for id, lost := range l.lost {
		switch {
		case id.owner != p.Owner:
		case creates(id.key):
			for _, o := range lost {
				left += o.count()
			}
		default:
			l.dropLoss(id)
		}
	}
	return left
}

func (l *losses) lossesOf(id lossID) []loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lost[id])
}

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
	if res.Step.ID.Action == plan.Delete && res.State == Done && r.isPointless(i) { // it was under way
		i = r.createOf(i)
		res = r.results[i]
	}
	if res.Step.ID.Action != plan.Create || !r.isRefused(i, res) {
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
	key := old.resource.Key
	if !slices.ContainsFunc(r.again, func(a again) bool { return a.old.resource.Key == key }) && r.restoreOf(key) == nil {
		r.again = append(r.again, again{create, old, why})
	}
	create.Batch = "" // that of another kind
	for _, part := range old.parts {
		r.createAgain(create, part, why)
	}
}

// startAgain submits the creates of old resources, each after those of what it needs. They wait
// until the new resources are deleted. The calls are made even if the run is to end: nothing
// serves meanwhile.
func (r *run) startAgain() {
	if slices.ContainsFunc(r.undoing, r.wasReplaced) {
		return
	}
	left := r.again
	r.again = nil
	for _, a := range left {
		step := plan.Step{ID: a.of.ID, Target: a.old.resource, Reason: plan.Missing, Why: a.why, Locks: a.of.Locks, Batch: a.of.Batch}
		step.ID.Key = step.Target.Key
		state := r.stateOfNeeds(a.old.resource, left)
		if step.Target = r.asBefore(a.old); state == Waiting {
			r.again = append(r.again, a)
			continue
		}
		known := step // to the cloud it is a create like any other
		known.ID.Part = partRestore
		if state == Done {
			r.repair(a.of.ID, step, known)
		} else {
			r.restores = append(r.restores, restore{of: a.of.ID, Result: Result{Step: known, State: state}})
		}
	}
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
		switch sent := r.restoreOf(key); {
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

// restoreOf returns the create of an old resource that was submitted; nil: there is none.
func (r *run) restoreOf(key stack.Key) *Result {
	for i, o := range r.restores {
		if o.Step.ID.Key == key && o.Step.ID.Part == partRestore {
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
		if key := r.keyOf(ref); ref.ID != "" && r.restoreOf(key) != nil {
			return stack.RefTo(key)
		}
		if id := l.ids[ref.To]; id != "" && id != now.ID && r.restoreOf(ref.To) == nil {
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
		if res.Step.ID.Part == partRestore {
			of := r.restores[at].of
			r.engine.losses.learnRestore(lossID{of.Owner, of.Key}, res.Step.ID.Key)
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
	again := refused.ID
	if refused.Pair.Restore {
		again.Key = refused.Pair.Delete.Key
	}
	return r.createdAgain(again)
}

// createdAgain reports whether an old resource was created again.
func (r Report) createdAgain(again plan.StepID) bool {
	again.Action, again.Part = plan.Create, partRestore
	return slices.ContainsFunc(r.Results, func(res Result) bool { return res.Step.ID == again && res.State == Done })
}
