package verdict

import (
	"errors"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Obstacles says what the waiting steps of a result wait for; empty if none waits.
func Obstacles(result reconcile.Result) string {
	var text []string
	for _, r := range result.Report.Results {
		if r.State != engine.Waiting || r.Because != (plan.StepID{}) {
			continue
		}
		line := r.Step.ID.String()
		if r.Outcome.Err != nil {
			line = OneLine(r.Outcome.Err)
		}
		text = append(text, line)
	}
	if result.Err != nil {
		text = append(text, OneLine(result.Err))
	}
	if held := HeldText(result.Draft.Plan.Held); held != "" {
		text = append(text, held)
	}
	return strings.Join(text, "; ")
}

// HeldText lists held steps and why.
func HeldText(held []plan.Held) string {
	var text []string
	for _, h := range held {
		text = append(text, h.Step.ID.String()+": "+h.Why)
	}
	return strings.Join(text, "; ")
}

// Replacing tells whether an old load balancer still serves beside a new one, and
// which.
func Replacing(result reconcile.Result) (old string, waits bool) {
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && !r.Step.Gate.IsZero() {
			return r.Step.ID.Key.String(), true
		}
	}
	return "", false
}

// onlyGates tells whether nothing is waited for but the time after a switch.
func onlyGates(result reconcile.Result) bool {
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && r.Step.Gate.IsZero() {
			return false
		}
	}
	return true
}

// EventFor is the event for something that the user wrote and that has no effect.
func EventFor(p annotations.Problem, keys *annotations.Set) status.EventReason {
	switch {
	case !strings.Contains(p.Key, "/"):
		return status.EventUnsupportedSpec // a field, or the nodes
	case keys.Knows(p.Key):
		return status.EventUnsupportedAnnotation
	}
	return status.EventUnknownAnnotation
}

// Told is what an event says of an error. Which calls are throttled, or find the
// cloud down, differs from one try to the next; that they do is told once.
func Told(err error) string {
	var first *fault.Fault
	if (fault.Is(err, fault.Throttled) || fault.Is(err, fault.Unavailable)) && errors.As(err, &first) {
		return OneLine(first)
	}
	return OneLine(err)
}

// OneLine is the text of an error without line breaks.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
