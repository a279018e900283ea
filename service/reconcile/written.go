package reconcile

import (
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// entry is a shared resource as all Services know it: what it is in, and its key.
type entry struct{ in, key stack.Key }

func entryOf(res stack.Resource) entry { return entry{res.In, res.Key} }

// written are the members that this process has put into shared resources or taken out
// of them lately, by whichever Service: what the others remember of these is older. It is
// safe for concurrent use.
type written struct {
	age time.Duration // after which no snapshot is as old any more

	mu  sync.Mutex
	log map[entry][]write // the oldest first
}

type write struct {
	result engine.Result
	at     time.Time
}

func newWritten(age time.Duration) *written { return &written{age: age, log: map[entry][]write{}} }

// note enters what a run has written.
func (w *written) note(report engine.Report, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, res := range report.Results {
		step := res.Step
		if step.Target.Ownership != stack.Shared || step.ID.Action == plan.Forget {
			continue
		}
		of := entryOf(step.Target)
		switch {
		case step.ID.Action != plan.Update:
			for _, part := range append(slices.Clone(step.With), step.Target) {
				delete(w.log, entryOf(part)) // it is another one from now on
			}
		case res.State == engine.Done && slices.ContainsFunc(step.Changes, memberwise):
			fresh := slices.IndexFunc(w.log[of], func(old write) bool { return now.Sub(old.at) < w.age })
			if fresh < 0 {
				fresh = len(w.log[of])
			}
			w.log[of] = append(slices.Clone(w.log[of][fresh:]), write{res, now})
		}
	}
}

func memberwise(c plan.Change) bool { return len(c.Added)+len(c.Removed) > 0 }

// upon returns what was found at a time with all that was written since. Have itself
// stays as it is.
func (w *written) upon(have *stack.Stack, at time.Time) *stack.Stack {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := have
	for _, res := range have.Resources {
		if res.Ownership != stack.Shared {
			continue
		}
		for _, late := range w.log[entryOf(res)] {
			if late.at.Before(at) {
				continue
			}
			if out == have {
				out = have.Clone()
			}
			engine.Learn(out, late.result.Step, late.result.Outcome)
		}
	}
	return out
}
