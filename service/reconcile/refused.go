package reconcile

import (
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// replaceAgain is how long a replacement that the cloud refused is not tried again while it
// stays the same: each try interrupts traffic, and a quota may be raised without a change
// of the Service.
const replaceAgain = time.Hour

// refusedReplacements are replacements that delete first and were refused, they or what completes
// them, so that the old resource was restored.
type refusedReplacements struct {
	mu  sync.Mutex
	now func() time.Time
	of  map[stack.Owner]map[stack.Key]refusedReplacement
}

type refusedReplacement struct {
	asked  string // digest of the request
	digest string // of the create
	why    string
	until  time.Time
}

func newRefusedReplacements(now func() time.Time) *refusedReplacements {
	return &refusedReplacements{now: now, of: map[stack.Owner]map[stack.Key]refusedReplacement{}}
}

// note records which replacements a run was refused.
func (r *refusedReplacements) note(o stack.Owner, asked string, report engine.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, res := range report.Results {
		pair := res.Step.Pair
		if !pair.Restore || pair.Create != res.Step.ID {
			continue
		}
		delete(r.of[o], res.Step.ID.Key)
		if !res.IsRefused() {
			continue
		}
		r.add(o, res.Step.ID.Key, refusedReplacement{asked: asked, digest: res.Step.Digest(), why: res.Outcome.Err.Error(), until: r.now().Add(replaceAgain)})
	}
	r.noteUndone(o, asked, report)
	if len(r.of[o]) == 0 {
		delete(r.of, o)
	}
}

// noteUndone records the replacements that were undone, because what completes them was refused.
func (r *refusedReplacements) noteUndone(o stack.Owner, asked string, report engine.Report) {
	for _, res := range report.Results {
		for _, pair := range report.Undone(res) {
			at := slices.IndexFunc(report.Results, func(made engine.Result) bool { return made.Step.ID == pair.Create && made.State == engine.Done })
			if at < 0 {
				continue // noted already
			}
			why := res.Step.ID.String() + " is not possible"
			if res.Outcome.Err != nil {
				why = res.Outcome.Err.Error()
			}
			r.add(o, pair.Create.Key, refusedReplacement{asked: asked, digest: report.Results[at].Step.Digest(), why: why, until: r.now().Add(replaceAgain)})
		}
	}
}

func (r *refusedReplacements) add(o stack.Owner, k stack.Key, refused refusedReplacement) {
	if r.of[o] == nil {
		r.of[o] = map[stack.Key]refusedReplacement{}
	}
	r.of[o][k] = refused
}

func (r *refusedReplacements) drop(o stack.Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, o)
}

// get returns what was refused of a replacement, if the request is the same and its time has not come.
func (r *refusedReplacements) get(asked string, s plan.Step) (refusedReplacement, bool) {
	if !s.Pair.Restore || s.Pair.Create != s.ID {
		return refusedReplacement{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.of[s.ID.Owner][s.ID.Key]
	return known, ok && r.now().Before(known.until) && known.asked == asked && known.digest == s.Digest()
}

// filter returns a policy for a request. It blocks the creates of replacements that were
// refused, and with them the deletes of what they replace.
func (r *refusedReplacements) filter(asked string) plan.StepFilter {
	return func(s plan.Step) plan.Verdict {
		known, refused := r.get(asked, s)
		if !refused {
			return plan.Verdict{}
		}
		return plan.Verdict{Blocked: true, By: plan.ByRefused, Why: "the cloud refused it, and what exists is kept until the request changes: " + known.why}
	}
}

// wait returns when the first blocked replacement of a plan may be tried again.
func (r *refusedReplacements) wait(asked string, p plan.Plan) (wait time.Duration, waits bool) {
	for _, b := range p.Blocked {
		if known, refused := r.get(asked, b.Step); refused {
			if left := known.until.Sub(r.now()); !waits || left < wait {
				wait, waits = left, true
			}
		}
	}
	return wait, waits
}
