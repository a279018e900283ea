package reconcile

import (
	"context"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Draft is the plan for a Service, with the results of the phases that it follows from.
type Draft struct {
	Job Job
	Parsed
	View
	Desired
	Plan  plan.Plan
	Found []stack.Key // the load balancers that clients could connect to before the run
	// Clean drafts have nothing to do by what is observed already: the plan is empty, or nothing
	// was built or compared.
	Clean bool

	last    recalled // before the run; again before each further read
	learned bool     // a run has found out what the conditions report
	recheck bool     // the last run left nothing to do, on the same input
	awaited bool     // a deletion by another Service has ended since the draft began
}

// Draft plans a Service without changing anything in the cloud. An error is a
// fault; mistakes of the user are in Problems. A Service that cannot be drafted
// might desire any shared resource, unless all its existing resources were read.
func (r *Reconciler) Draft(ctx context.Context, job Job) (*Draft, error) {
	last := r.recall(OwnerOf(job.Service))
	if job.Release {
		return r.draftRelease(ctx, job, last)
	}
	d, err := r.draft(ctx, job, last)
	if err != nil || d.Intent != Serve {
		if job.NeverProvisioned || job.NothingMade {
			// Nothing was ever created for it, so it can miss nothing. Otherwise a Service
			// full of mistakes would keep every shared resource.
			r.ledger.Enter(d.Owner, nil)
		}
		r.EnterUnknown(d.Owner)
	}
	return d, err
}

// phase is a phase of a draft. Each has a few values as its input, and returns its result and the
// next phase.
type phase int

const (
	toObserve phase = iota // request to view
	toBuild                // request and view to desired stack
	toWeaken               // a request that cannot be followed to another one
	toMatch                // view to one that can be compared with the desired stack
	toConfirm              // waits for deletions of what is desired
	toCompare              // view and desired stack to plan
	toJudge                // whether the view suffices for the plan
	toReadAll              // begins again with a read of everything that the Service may own
	toEnd
)

// draft runs the phases: it parses, and repeats the others while the request becomes a weaker one,
// or what was observed does not suffice for the plan that follows from it.
//
//nolint:gocyclo // One case for each phase.
func (r *Reconciler) draft(ctx context.Context, job Job, last recalled) (*Draft, error) {
	d := &Draft{Job: job, Parsed: r.parse(job, last.snapshot), last: last}
	if d.Intent == LeaveAlone {
		return d, nil
	}
	d.recheck = last.clean == d.Digest
	if r.isStillClean(job, d.Parsed, last) {
		d.View = rememberedView(last)
		d.Clean, d.Problems = true, append(d.Problems, last.warnings...).Distinct()
		return d, nil
	}
	var err error
	for next := toObserve; next != toEnd && err == nil; {
		switch next {
		case toObserve:
			d.View, next, err = r.observe(ctx, job, d.Parsed, d.last)
		case toBuild:
			d.Desired, next, err = r.build(ctx, job, d.Parsed, d.View)
		case toWeaken:
			d.Parsed, next, err = r.weakenRequest(job, d.Parsed, d.View, d.Desired, d.last.snapshot)
			d.Desired = Desired{}
		case toMatch:
			d.Have, next = r.matchObserved(job, d.Parsed, d.View, d.Want)
		case toConfirm:
			d.awaited, next, err = r.confirmDesired(ctx, d.Parsed, d.View, d.Want, d.awaited)
		case toCompare:
			d.Plan, err = r.compare(ctx, job, d.Parsed, d.View, d.Want)
			next = toJudge
		case toJudge:
			next = r.judgePlan(d.Parsed, d.View, d.Want, d.Plan, d.last.asked)
		case toReadAll:
			d.last, next = r.distrustSnapshot(d.Owner)
			d.Desired, d.Plan, job.NeverProvisioned = Desired{}, plan.Plan{}, false
			d.Job = job
		case toEnd:
		}
	}
	if err == nil && d.Intent != LeaveAlone {
		r.finishDraft(d)
	}
	return d, err
}
