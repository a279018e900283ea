package laws

import (
	"slices"

	"github.com/berth-lb/berth/stack/plan"
)

// makeRoom ends the refusals by a quota that a performed step cures: it deletes a resource of the
// kind that had no room, or removes members from the set that was full. It reports whether
// there are any.
func (x *run) makeRoom(s plan.Step) bool {
	if !x.scenario.Quota || x.lifted {
		return false
	}
	made := false
	for i, r := range x.scenario.Refuse {
		if x.met[i] > 0 && (freesKind(s, r) || removesFrom(s, r)) {
			x.room[i], made = true, true
		}
	}
	return made
}

func freesKind(s plan.Step, r Refusal) bool {
	return r.Step.Action == plan.Create && s.ID.Action == plan.Delete && s.ID.Key.Kind == r.Step.Key.Kind
}

func removesFrom(s plan.Step, r Refusal) bool {
	return r.Step.Action == plan.Update && s.ID.Key == r.Step.Key && s.ID.Owner == r.Step.Owner &&
		slices.ContainsFunc(s.Changes, func(c plan.Change) bool { return len(c.Removed) > 0 })
}
