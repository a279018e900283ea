package reconcile

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// kept begins the record of a Service whose load balancer was left as another
// controller had left it.
const kept = "kept:"

// Drift reports whether a step updates a found resource, or deletes it without an interruption.
// Such a step corrects what another controller left otherwise than Berth would. Additions are no
// drift, such as a node that joined while no controller ran.
func Drift(s plan.Step) bool {
	if s.Impact == plan.Interrupts || s.Impact != plan.NoImpact && s.ID.Action != plan.Update || s.Reason == plan.Initial {
		return false
	}
	adds := slices.ContainsFunc(s.Changes, func(c plan.Change) bool { return len(c.Added) > 0 })
	return s.ID.Action == plan.Delete || s.ID.Action == plan.Update && !adds
}

// keepDrift leaves drift as it is.
func keepDrift(s plan.Step) plan.Verdict {
	if !Drift(s) {
		return plan.Verdict{}
	}
	return plan.Verdict{Blocked: true, By: plan.ByTakeover, Why: "the controller that built it left it so; --on-takeover=converge applies it"}
}

// keepsDrift reports whether drift is kept: until a first run of this controller is clean,
// and then until the Service or its nodes change.
func (r *Reconciler) keepsDrift(job Job, p Parsed) bool {
	return r.options.KeepDrift && p.Intent != Release && (job.Foreign || job.Applied == kept+p.Digest)
}

// Kept reports whether the only remaining difference is drift that is kept.
func (res Result) Kept() bool {
	held := res.Draft.Plan.Blocked
	return len(held) > 0 && !slices.ContainsFunc(held, func(h plan.Blocked) bool { return h.By != plan.ByTakeover }) &&
		res.Report.Clean() && len(res.Draft.Blind) == 0 && !res.Draft.Problems.Errors()
}

// IsOfDraft reports whether a recorded digest is one of what the Service asks for. Of drift
// that was kept, a record depends on the nodes as well.
func IsOfDraft(record string) bool { return record != "" && !strings.HasPrefix(record, kept) }

// Outdates reports whether a run of the draft makes a record untrue. During a change the cloud
// has neither the old nor the new state, and a return to the old request must not count as done.
func (d *Draft) Outdates(record string) bool {
	return record != "" && !d.matches(record) && len(d.Plan.Steps) > 0
}

// matches reports whether a record is that of the draft's request.
func (d *Draft) matches(record string) bool { return record == d.Asked || record == kept+d.Digest }

// Record is what is to be recorded on the Service as applied; false while there
// is work left. Drift is kept until the nodes change, so these are in the record as
// long as any is.
func (res Result) Record() (string, bool) {
	switch {
	case res.Clean:
		return res.Draft.Asked, true
	case res.Kept():
		return kept + res.Draft.Digest, true
	}
	return "", false
}
