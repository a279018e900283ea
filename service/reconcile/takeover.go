package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/stack/plan"
)

const (
	// kept begins the record of a Service whose load balancer was left as another
	// controller had left it.
	kept = "kept:"
	// byTakeover is who holds such a step.
	byTakeover = "takeover"
)

// Drift tells whether a step changes or removes what was found and interrupts
// nothing: on what another controller has built, that is what it left otherwise
// than we would. What a step adds is no drift but work that is due, such as a
// node that joined while no controller ran.
func Drift(s plan.Step) bool {
	if s.Impact != plan.NoImpact || s.Reason == plan.Initial {
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
	return plan.Verdict{Held: true, By: byTakeover, Why: "the controller that built it left it so; --on-takeover=converge applies it"}
}

// keeps tells whether drift stays: as long as no run of ours was clean, and then
// until the Service or its nodes change.
func (r *Reconciler) keeps(d *Draft) bool {
	return r.options.KeepDrift && !d.Job.Release && (d.Job.Foreign || d.Job.Applied == kept+d.Digest)
}

// Kept tells whether nothing is left to do but drift that is kept.
func (res Result) Kept() bool {
	held := res.Draft.Plan.Held
	return len(held) > 0 && !slices.ContainsFunc(held, func(h plan.Held) bool { return h.By != byTakeover }) &&
		res.Report.Clean() && len(res.Draft.Blind) == 0 && !res.Draft.Problems.Errors()
}

// Record is what is to be recorded on the Service as applied; false while there
// is work left.
func (res Result) Record() (string, bool) {
	switch {
	case res.Clean:
		return res.Draft.Digest, true
	case res.Kept():
		return kept + res.Draft.Digest, true
	}
	return "", false
}
