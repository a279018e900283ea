package wire

import (
	"slices"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/plan"
)

// noCluster is the fault of a session without a cluster, which cannot tell its own targets from others.
func noCluster() error {
	return fault.New(fault.Denied, "%s: needs a cluster to ask which targets are its own", model.MultiKey.Name)
}

// ownsAlone reports whether the targets of the step are those of this cluster beside
// others'.
func ownsAlone(c *change) bool {
	wanted, _ := c.Step.Target.Spec.(model.Targets)
	return wanted.Own
}

// noteAdded writes down targets as this cluster's before they are registered: after a crash
// in between they are known as its own, and go when they are not wanted.
func noteAdded(c *change, add []model.Target) error {
	if !ownsAlone(c) {
		return nil
	}
	return updateNote(c, add, nil)
}

// deregisterOwn takes out targets of this cluster, and strikes them out of the note. The note
// is asked right before: what is not in it is never taken out, whatever the plan knew.
func deregisterOwn(c *change, remove []model.Target, call func([]model.Target) error) plan.Outcome {
	if c.Session.notes == nil {
		return kit.Failed(noCluster())
	}
	note, err := c.Session.notes.Read(c.Ctx, c.Step.ID.Owner.Namespace, model.NoteOf(c.ID()))
	if err != nil {
		return kit.Failed(err)
	}
	own := model.OwnOf(remove, note)
	if len(own) == 0 {
		return c.Removed(nil, nil)
	}
	var o plan.Outcome
	if podTargets(own) {
		o = removePods(c, own, call)
	} else {
		o = removeMachines(c, own, targetID, call)
	}
	if o.Err != nil {
		return o
	}
	gone := slices.DeleteFunc(own, func(t model.Target) bool {
		return slices.ContainsFunc(o.Refused, func(r plan.Refusal) bool { return r.Member == t })
	})
	if err := updateNote(c, nil, gone); err != nil {
		return kit.Failed(err)
	}
	return o
}

// updateNote changes the note of the step's target group.
func updateNote(c *change, add, remove []model.Target) error {
	if c.Session.notes == nil {
		return noCluster()
	}
	wanted, _ := c.Step.Target.Spec.(model.Targets)
	found, _ := c.Step.Found.(model.Targets)
	known := slices.Concat(wanted.Targets, found.Targets)
	return c.Session.notes.Change(c.Ctx, c.Step.ID.Owner, model.NoteOf(c.ID()), func(note map[string]string) map[string]string {
		return model.Renoted(note, known, add, remove)
	})
}
