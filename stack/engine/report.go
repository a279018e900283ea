package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// State is the result of a step.
type State string

const (
	// Done steps changed the cloud as planned.
	Done State = "done"
	// Failed steps were refused, or their outcome is unknown.
	Failed State = "failed"
	// Skipped steps need one that failed.
	Skipped State = "skipped"
	// Waiting steps can be performed later: the cloud is busy, a gate is closed, or they
	// need a step that waits.
	Waiting State = "waiting"
)

// Result is a step with its result.
type Result struct {
	Step    plan.Step
	Outcome plan.Outcome
	State   State
	Because plan.StepID // of Skipped and Waiting: the blocking step
}

// Report is the result of a plan.
type Report struct {
	Results []Result     // in the order of the plan, then creates of old resources in place of refused ones
	Have    *stack.Stack // the known state afterwards
}

// Clean reports whether every step is done.
func (r Report) Clean() bool {
	for _, res := range r.Results {
		if res.State != Done || len(res.Outcome.Refused) > 0 {
			return false
		}
	}
	return true
}

// Used reports whether a resource to be deleted stays, because others use it.
func (r Report) Used() bool {
	return slices.ContainsFunc(r.Results, func(res Result) bool { return res.Outcome.Used })
}

// Learned reports whether a refusal lets the next draft identify the mistaken key.
func (r Report) Learned() bool {
	learned := func(err error) bool {
		f, ok := errors.AsType[*fault.Fault](err)
		return ok && f.Learned
	}
	return slices.ContainsFunc(r.Results, func(res Result) bool {
		return learned(res.Outcome.Err) || slices.ContainsFunc(res.Outcome.Refused, func(m plan.Refusal) bool { return learned(m.Err) })
	})
}

// Err returns all failures, nil if there are none. Waiting and skipped
// steps are not failures, nor are undecided members; refused members are. Failures that
// only the user can resolve are last, so that the meaning of the whole is that of the
// failure that may succeed sooner.
func (r Report) Err() error {
	var ours, users []error
	add := func(err error) {
		if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Taken) {
			users = append(users, err)
		} else {
			ours = append(ours, err)
		}
	}
	for _, res := range r.Results {
		switch {
		case res.State == Failed && r.isRestored(res.Step):
			add(fmt.Errorf("%w; what it replaces was created again as it was before", res.Outcome.Err))
		case res.State == Failed && len(r.Undone(res)) > 0:
			add(fmt.Errorf("%w; the replacement that needs it was undone, and what existed before was created again", res.Outcome.Err))
		case res.State == Failed:
			add(res.Outcome.Err)
		}
		for _, same := range groupByText(res.Outcome.Refused) {
			if !isUndecided(same[0]) {
				add(fmt.Errorf("%s: %s: %w", res.Step.ID, listMembers(same), same[0].Err))
			}
		}
	}
	return fault.Listed(append(ours, users...)...)
}

// isUndecided reports whether a member was left out only for the moment.
func isUndecided(m plan.Refusal) bool { return fault.Of(m.Err).IsWait() }

// groupByText groups refusals by message: a full load balancer refuses thousands of
// members with one message, which is reported once.
func groupByText(refused []plan.Refusal) [][]plan.Refusal {
	var out [][]plan.Refusal
	at := map[string]int{}
	for _, m := range refused {
		text := m.Err.Error()
		i, known := at[text]
		if !known {
			i, at[text] = len(out), len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], m)
	}
	return out
}

// listMembers lists the first members and the number of the others.
func listMembers(refused []plan.Refusal) string {
	const shown = 3
	var list []string
	for _, m := range refused[:min(shown, len(refused))] {
		list = append(list, fmt.Sprint(m.Member))
	}
	text := strings.Join(list, ", ")
	if more := len(refused) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Stale reports whether the known state of the owner can no longer be trusted: a call
// has an unknown outcome or is not finished, the cloud contradicted the known state, or
// an old resource outlived the new one under its key, which is the only one that is
// known.
func (r Report) Stale() bool {
	return slices.ContainsFunc(r.Results, func(res Result) bool { return res.stale() || r.outlived(res) })
}

// outlived reports whether the result is of an old resource that still exists although
// the new one is created.
func (r Report) outlived(res Result) bool {
	made := res.Step.Pair.Create
	return res.State != Done && replacedBefore(res.Step) && slices.ContainsFunc(r.Results, func(o Result) bool {
		return o.Step.ID == made && o.State == Done
	})
}

func (r Result) stale() bool {
	if r.Outcome.Err == nil {
		return r.State == Waiting && r.Outcome.Sent != plan.NotSent
	}
	if r.Outcome.Sent == plan.MaybeSent {
		return true
	}
	switch fault.Of(r.Outcome.Err) {
	case fault.NotFound, fault.Conflict, fault.Exists, fault.Ambiguous:
		return true
	default:
		return false
	}
}

// Wait returns the shortest time after which a waiting step, or an undecided member, may
// succeed; false if none waits by itself. Zero with true means:
// the caller's own back-off.
func (r Report) Wait() (time.Duration, bool) {
	var shortest time.Duration
	var waits bool
	note := func(wait time.Duration) {
		if !waits || wait < shortest {
			shortest = wait
		}
		waits = true
	}
	for _, res := range r.Results {
		if res.State == Waiting && res.Because == (plan.StepID{}) {
			note(res.Outcome.Wait)
		}
		if i := slices.IndexFunc(res.Outcome.Refused, isUndecided); i >= 0 {
			note(fault.After(res.Outcome.Refused[i].Err))
		}
	}
	return shortest, waits
}
