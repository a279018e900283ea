package engine

import (
	"slices"
	"sync"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// losses are the resources that were deleted for a replacement which does not exist yet.
// The zero value is empty. They outlive a run: a create whose result is unknown is read
// first, and may be refused in a later run.
type losses struct {
	mu    sync.Mutex
	lost  map[lossID][]loss
	owned map[stack.Owner]int // how many of each owner
}

// loss is a deleted resource with its parts, and with the identifiers of its references: their
// keys may belong to replacements by now. Or it is what an update has taken away.
type loss struct {
	resource stack.Resource
	ids      map[stack.Key]string
	parts    []loss
	locks    []string
	update   *plan.Step // nil: the resource was deleted
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
	deletes := s.Pair.Restore && s.Pair.Delete == s.ID
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
		lost := lossOf(have, s)
		known = slices.DeleteFunc(known, func(o loss) bool { return o.restoredBy() == lost.restoredBy() })
		l.lost[id] = append(known, lost)
	case len(known) > 0 && isCreate(s):
		l.dropLoss(id)
	}
}

// learnRestore updates the losses after a resource exists again.
func (l *losses) learnRestore(id lossID, again plan.StepID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again.Owner = stack.Owner{}
	left := slices.DeleteFunc(l.lost[id], func(o loss) bool { return o.restoredBy() == again })
	switch {
	case len(left) > 0:
		l.lost[id] = left
	case l.lost[id] != nil:
		l.dropLoss(id)
	}
}

// isCreate reports whether a step creates a resource, or gives what another step has taken away.
func isCreate(s plan.Step) bool { return s.ID.Action == plan.Create || s.Pair.Create == s.ID }

// lossOf returns what a step takes away from an observed stack.
func lossOf(have *stack.Stack, s plan.Step) loss {
	if s.ID.Action == plan.Update {
		return loss{resource: s.Target, locks: s.Locks, update: &s}
	}
	return lossFrom(have, s.Target, s.Locks)
}

// restoredBy returns the step, without its owner, that restores the loss, as reports name it.
func (l loss) restoredBy() plan.StepID {
	id := plan.StepID{Key: l.resource.Key, Action: plan.Delete}
	if l.update != nil {
		id.Action, id.Part = plan.Update, l.update.ID.Part
	}
	return restoreOf(id)
}

// restoreOf returns the step, as reports name it, that restores what another step has taken away.
func restoreOf(taken plan.StepID) plan.StepID {
	if taken.Action == plan.Update {
		taken.Part = partRestore + " " + taken.Part
		return taken
	}
	taken.Action, taken.Part = plan.Create, partRestore
	return taken
}

// lossFrom returns the loss of a resource of an observed stack.
func lossFrom(have *stack.Stack, r stack.Resource, locks []string) loss {
	lost := loss{resource: r, ids: map[stack.Key]string{}, locks: locks}
	for _, ref := range stack.Refs(r.Spec) {
		if used, exists := have.Get(ref.To); exists {
			lost.ids[ref.To] = used.ID
		}
	}
	for _, part := range have.Resources {
		if part.In == r.Key {
			lost.parts = append(lost.parts, lossFrom(have, part, locks))
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
	isCreated := func(k stack.Key) bool {
		return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID.Key == k && isCreate(s) }) ||
			slices.ContainsFunc(p.Blocked, func(b plan.Blocked) bool { return b.Step.ID.Key == k && isCreate(b.Step) })
	}
	left := 0
	for id, lost := range l.lost {
		switch {
		case id.owner != p.Owner:
		case isCreated(id.key):
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
