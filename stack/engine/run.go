package engine

import (
	"context"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// run is the state of one Run; only its own goroutine touches it, except for
// have, which batches of other owners' runs may read through the resolver.
type run struct {
	ctx     context.Context //nolint:containedctx // says whose calls these are, and does not end them
	engine  *Engine
	plan    plan.Plan
	results map[plan.StepID]Result
	started map[plan.StepID]bool
	flying  int
	landed  chan landing

	mu   sync.RWMutex
	have *stack.Stack
}

// landing is one step that came back.
type landing struct {
	step    plan.Step
	outcome plan.Outcome
}

func newRun(ctx context.Context, e *Engine, p plan.Plan, have *stack.Stack) *run {
	known := have.Clone()
	known.Owner = p.Owner
	return &run{
		ctx:     ctx,
		engine:  e,
		plan:    p,
		results: map[plan.StepID]Result{},
		started: map[plan.StepID]bool{},
		landed:  make(chan landing, len(p.Steps)),
		have:    known,
	}
}

// closeGates takes the steps whose gate is closed out of the running.
func (r *run) closeGates(gates Gates) {
	for _, s := range r.plan.Steps {
		if s.Gate.IsZero() || gates == nil {
			continue
		}
		if wait := gates(s.Gate); wait > 0 {
			r.results[s.ID] = Result{Step: s, State: Waiting, Outcome: plan.Outcome{Wait: wait}}
		}
	}
}

// start sends off every step that can go now, those of one batch together.
func (r *run) start() {
	groups := map[string][]item{}
	var order []string
	for again := true; again; {
		again = false
		for _, s := range r.plan.Steps {
			if r.started[s.ID] || r.ended(s.ID) {
				continue
			}
			ready, blocker := r.ready(s)
			if blocker != nil {
				r.skip(s, *blocker)
				again = true // what needs this one is skipped as well
				continue
			}
			if !ready || r.flying >= r.engine.options.PerOwner && !joins(groups, s) {
				continue
			}
			r.started[s.ID] = true
			if s.ID.Action == plan.Forget {
				r.conclude(Result{Step: s, State: Done})
				again = true
				continue
			}
			r.flying++
			key := s.Batch
			if key == "" {
				key = "\x00" + s.ID.String() // a group of its own
			}
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], item{ctx: r.ctx, step: s, ids: r.resolve, landed: r.landed})
		}
	}
	for _, key := range order {
		r.engine.lanes.submit(groups[key][0].step.Batch, groups[key])
	}
}

// joins tells whether the step goes out in a call that is about to be made
// anyway, which costs nothing more.
func joins(groups map[string][]item, s plan.Step) bool {
	return s.Batch != "" && len(groups[s.Batch]) > 0
}

func (r *run) ended(id plan.StepID) bool {
	_, ok := r.results[id]
	return ok
}

// ready tells whether all that a step needs is done; blocker is a needed step
// that ended otherwise.
func (r *run) ready(s plan.Step) (bool, *Result) {
	ready := true
	for _, need := range s.Needs {
		res, ended := r.results[need]
		switch {
		case ended && res.State != Done && !makesRoom(s, res):
			return false, &res
		case !ended && r.planned(need):
			ready = false
		}
	}
	return ready, nil
}

// makesRoom tells whether the step removes members from a set that was too full
// to add the new ones first. Those are added by the next run.
func makesRoom(s plan.Step, blocker Result) bool {
	if blocker.State != Failed || !fault.Is(blocker.Outcome.Err, fault.Quota) || s.ID.Key != blocker.Step.ID.Key {
		return false
	}
	adds, removes := false, false
	for _, added := range blocker.Step.Changes {
		for _, removed := range s.Changes {
			adds = adds || added.Field == removed.Field && len(added.Added) > 0
			removes = removes || added.Field == removed.Field && len(removed.Removed) > 0
		}
	}
	return adds && removes
}

func (r *run) planned(id plan.StepID) bool {
	for _, s := range r.plan.Steps {
		if s.ID == id {
			return true
		}
	}
	return false
}

// skip ends a step that cannot run because of another one. Behind a step that
// waits, it waits too; behind a failed one it is skipped.
func (r *run) skip(s plan.Step, because Result) {
	state := Skipped
	if because.State == Waiting {
		state = Waiting
	}
	r.conclude(Result{Step: s, State: state, Because: because.Step.ID})
}

// finish takes a step that came back, and with it all others that are there.
func (r *run) finish(l landing) {
	for {
		r.flying--
		r.settle(l)
		select {
		case l = <-r.landed:
		default:
			return
		}
	}
}

func (r *run) settle(l landing) {
	res := Result{Step: l.step, Outcome: l.outcome}
	switch {
	case l.outcome.Err != nil && fault.Of(l.outcome.Err).IsWait():
		res.State = Waiting
		res.Outcome.Wait = max(fault.After(l.outcome.Err), l.outcome.Wait)
	case l.outcome.Err != nil:
		res.State = Failed
	case l.outcome.Wait > 0:
		res.State = Waiting
	default:
		res.State = Done
	}
	r.conclude(res)
}

func (r *run) conclude(res Result) {
	r.results[res.Step.ID] = res
	if res.State == Done {
		r.mu.Lock()
		learn(r.have, res.Step, res.Outcome)
		r.mu.Unlock()
	}
	r.engine.options.Observe(res)
}

// leaveRest reports what never started.
func (r *run) leaveRest(stopped bool) {
	for _, s := range r.plan.Steps {
		if r.ended(s.ID) {
			continue
		}
		if stopped {
			r.results[s.ID] = Result{Step: s, State: Waiting, Outcome: plan.Outcome{Wait: time.Second}}
		} else {
			r.results[s.ID] = Result{Step: s, State: Skipped}
		}
	}
}

// resolve turns a reference of this run's owner into an identifier.
func (r *run) resolve(ref stack.Ref) (string, bool) {
	if ref.ID != "" {
		return ref.ID, true
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	res, ok := r.have.Get(ref.To)
	return res.ID, ok && res.ID != ""
}

func (r *run) report() Report {
	out := Report{Have: r.have}
	for _, s := range r.plan.Steps {
		out.Results = append(out.Results, r.results[s.ID])
	}
	return out
}
