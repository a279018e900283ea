package engine

import (
	"errors"
	"fmt"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// maxSplits bounds the additional calls of one search for rejected steps. Others wait for
// the queue meanwhile; undecided steps are decided in a later search.
const maxSplits = 16

// errStop ends a search: more calls would not help.
var errStop = errors.New("the search for a rejected step has ended")

// attempt calls Apply and, if the cloud refused the batch as a whole because of some of
// its steps, again with parts of it. Steps that were refused before are sent alone. A
// step is refused only by the answer to itself; undecided steps wait for a moment,
// without the message of the others.
func (e *Engine) attempt(key string, items []item) []plan.Outcome {
	if key == "" {
		return e.applyOnce(key, items)
	}
	h := &hunt{engine: e, key: key, items: items, outcomes: make([]*plan.Outcome, len(items))}
	places := make([]int, len(items))
	for i := range places {
		places[i] = i
	}
	refused, _ := fault.SplitAmong(&e.refused, key, places, h.name, maxSplits, h.try)
	alone := maxSplits
	for _, r := range refused {
		if !fault.Is(r.Err, fault.Pending) && h.outcomes[r.Member] == nil && alone > 0 {
			alone--
			_ = h.try([]int{r.Member}) // it is the rejected one, because the others are not
		}
	}
	out := make([]plan.Outcome, len(items))
	for i, o := range h.outcomes {
		if o == nil {
			o = &plan.Outcome{Err: fmt.Errorf("%s: %w", items[i].step.ID, fault.Undecided())}
		}
		out[i] = *o
	}
	return out
}

// hunt is the search for rejected steps in one batch.
type hunt struct {
	engine   *Engine
	key      string
	items    []item
	outcomes []*plan.Outcome // of the decided steps
}

// name identifies steps by owner and content: a refused step that has changed is tried
// with the others.
func (h *hunt) name(at int) string { return h.items[at].step.Digest() }

// try makes a call for some of the steps. An error is their refusal, or ends the
// search.
func (h *hunt) try(some []int) error {
	part := make([]item, len(some))
	for i, at := range some {
		part[i] = h.items[at]
	}
	answers := h.engine.applyOnce(h.key, part)
	refusal := refusedAsOne(answers)
	if refusal == nil || len(some) == 1 {
		for i, at := range some {
			h.outcomes[at] = &answers[i]
		}
	}
	if refusal == nil && !anyDone(answers) {
		return errStop
	}
	return refusal
}

// anyDone reports whether the cloud performed any part of a call, or refused single steps
// of it: otherwise the answer is not about single steps.
func anyDone(outcomes []plan.Outcome) bool {
	for _, o := range outcomes {
		if o.Err == nil || o.Sent == plan.NotSent && (fault.OfMember(o.Err) || len(outcomes) == 1 && ofStep(o.Err)) {
			return true
		}
	}
	return false
}

// ofStep reports whether a step may have been left out of the call because of itself.
func ofStep(err error) bool {
	switch fault.Of(err) {
	case fault.InUse, fault.Conflict, fault.Pending:
		return true
	default:
		return fault.OfMember(err)
	}
}

// refusedAsOne returns the refusal if every step of a batch got the same one, of a kind
// that a search can help with; nil otherwise. Other steps may have been left out for
// reasons of their own, if the rest share one answer. A timeout is none: a repetition
// would double the load exactly when the cloud is down.
func refusedAsOne(outcomes []plan.Outcome) error {
	all := true
	var refusal error
	seen := map[*fault.Fault]bool{}
	for _, o := range outcomes {
		if o.Err == nil || o.Sent != plan.NotSent || !ofStep(o.Err) {
			return nil
		}
		if !fault.OfMember(o.Err) {
			all = false
			continue
		}
		var said *fault.Fault
		if errors.As(o.Err, &said) && seen[said] {
			refusal = o.Err
		}
		seen[said] = said != nil
	}
	if all {
		return outcomes[0].Err
	}
	return refusal
}
