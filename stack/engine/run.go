package engine

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// run is the state of one Run; only its own goroutine uses it, except for
// have, which batches of other owners' runs can read through the resolver.
type run struct {
	ctx     context.Context //nolint:containedctx // identifies the calls, and does not end them
	engine  *Engine
	steps   []plan.Step
	graph   *plan.Graph
	open    []int          // by node of the graph: number of incomplete needs
	blocked []*Result      // by node: the first of its needs that was not done
	results []Result       // by step; without a state: not ended
	causes  []*Result      // by step that has not run: the original cause
	ready   []int          // steps that can start, in the order of the plan
	calls   map[string]int // steps in flight, by call
	repairs
	completed chan completion

	began *stack.Stack // the known state at the start
	mu    sync.RWMutex
	have  *stack.Stack
}

// completion is one step with its outcome.
type completion struct {
	place   int // in the plan
	outcome plan.Outcome
}

func newRun(ctx context.Context, e *Engine, p plan.Plan, have *stack.Stack) *run {
	known := have.Clone()
	known.Owner = p.Owner
	graph := plan.NewGraph(p.Steps)
	r := &run{
		ctx:       ctx,
		engine:    e,
		steps:     p.Steps,
		graph:     graph,
		open:      make([]int, len(graph.Needs)),
		blocked:   make([]*Result, len(graph.Needs)),
		results:   make([]Result, len(p.Steps)),
		causes:    make([]*Result, len(p.Steps)),
		calls:     map[string]int{},
		completed: make(chan completion, 2*len(p.Steps)+countRemedies(p.Steps, have)+e.losses.pruneFor(p)),
		began:     have,
		have:      known,
	}
	for node, needs := range graph.Needs {
		r.open[node] = len(needs)
	}
	for node := range graph.Needs {
		if len(graph.Needs[node]) == 0 {
			r.reached(node)
		}
	}
	return r
}

// reached records that all needs of a node are done.
func (r *run) reached(node int) {
	if node < r.graph.Steps {
		at, _ := slices.BinarySearch(r.ready, node)
		r.ready = slices.Insert(r.ready, at, node)
		return
	}
	for _, behind := range r.graph.Needed[node] {
		r.nearer(behind)
	}
}

// nearer records that one more need of a node is done.
func (r *run) nearer(node int) {
	if r.open[node]--; r.open[node] == 0 {
		r.reached(node)
	}
}

// closeGates marks the steps whose gate is closed as waiting.
func (r *run) closeGates(gates Gates) {
	for i, s := range r.steps {
		if s.Gate.IsZero() || gates == nil || r.isEnded(i) {
			continue
		}
		if wait := gates(s.Gate); wait > 0 {
			res := Result{Step: s, State: Waiting, Outcome: plan.Outcome{Wait: wait}}
			r.end(i, res)
			r.updateInstead(i, res)
		}
	}
}

// start submits every step that can be sent now, steps of one call together. A step that
// joins a running or waiting call takes no room of its own. A run that ends starts only the
// steps that it owes.
func (r *run) start(ends bool) {
	ctx, owed := r.ctx, r.owed(ends)
	if ends {
		ctx = context.WithoutCancel(ctx)
	} else {
		defer r.startInstead()
	}
	groups := map[string][]item{}
	var order []string
	for at := 0; at < len(r.ready); {
		i := r.ready[at]
		if ends && !owed[i] {
			at++
			continue
		}
		s, call := r.steps[i], r.callOf(i)
		local := r.isEnded(i) || s.ID.Action == plan.Forget || r.isPointless(i)
		if !local && r.calls[call] == 0 && len(r.calls) >= r.engine.options.PerOwner {
			at++
			continue
		}
		r.ready = slices.Delete(r.ready, at, at+1)
		switch {
		case r.isEnded(i): // a closed gate
		case r.isPointless(i):
			r.block(i, &r.results[r.createOf(i)], r.causeOf(r.createOf(i)))
		case local:
			r.conclude(i, Result{Step: s, State: Done})
		default:
			r.calls[call]++
			if groups[call] == nil {
				order = append(order, call)
			}
			groups[call] = append(groups[call], item{ctx: ctx, step: s, place: i, ids: r.resolve, completed: r.completed})
		}
	}
	for _, call := range order {
		r.engine.batcher.submit(groups[call][0].step.Batch, groups[call])
	}
}

// callOf returns the name of the call of a step; one of its own, if it shares none.
func (r *run) callOf(i int) string {
	if i < 0 {
		return callOfRestore(i)
	}
	if key := r.steps[i].Batch; key != "" {
		return key
	}
	return "\x00" + strconv.Itoa(i)
}

// makesRoom reports whether the step, which is behind another one, removes members from a
// set that was too full to add the new ones first, or an unwanted part of a resource
// without room, of the kind that had none. The next run adds them.
func makesRoom(s plan.Step, because, cause *Result) bool {
	if cause.State != Failed || !fault.Is(cause.Outcome.Err, fault.Quota) {
		return false
	}
	if !s.Gate.IsZero() && !s.Gate.Part {
		return false // clients still use it
	}
	if because == cause && takesAway(s) && cause.Step.ID.Action == plan.Create {
		in := s.Target.In
		return in != (stack.Key{}) && in == cause.Step.Target.In && holdsKind(s.Target, cause.Step.ID.Key.Kind)
	}
	return s.ID.Key == cause.Step.ID.Key && tradesMembers(cause.Step.Changes, s.Changes)
}

// holdsKind reports whether a resource is of a kind, or holds one that is: a pool can be deleted
// once its listener is.
func holdsKind(r stack.Resource, kind stack.Kind) bool {
	return r.Key.Kind == kind || slices.ContainsFunc(stack.Refs(r.Spec), func(ref stack.Ref) bool { return ref.To.Kind == kind })
}

// takesAway reports whether the step deletes an unwanted resource without a
// replacement of its kind.
func takesAway(s plan.Step) bool {
	return s.ID.Action == plan.Delete && s.Reason == plan.Unwanted && (s.Pair.IsZero() || s.Pair.Create.Key.Kind != s.ID.Key.Kind)
}

// tradesMembers reports whether the first changes add members to a field from which the
// others remove some.
func tradesMembers(first, then []plan.Change) bool {
	for _, added := range first {
		for _, removed := range then {
			if added.Field == removed.Field && len(added.Added) > 0 && len(removed.Removed) > 0 {
				return true
			}
		}
	}
	return false
}

// finish processes a completion, and with it all others that are available.
func (r *run) finish(c completion) {
	for {
		call := r.callOf(c.place)
		if r.calls[call]--; r.calls[call] == 0 {
			delete(r.calls, call)
		}
		r.record(c)
		select {
		case c = <-r.completed:
		default:
			return
		}
	}
}

func (r *run) record(c completion) {
	if c.place < 0 {
		r.recordRestore(c)
		return
	}
	r.conclude(c.place, resultOf(r.steps[c.place], c.outcome))
}

// resultOf returns the result of a step for an outcome.
func resultOf(step plan.Step, outcome plan.Outcome) Result {
	res := Result{Step: step, Outcome: outcome}
	switch {
	case outcome.Err != nil && fault.Of(outcome.Err).IsWait():
		res.State = Waiting
		res.Outcome.Wait = max(fault.After(outcome.Err), outcome.Wait)
	case outcome.Err != nil:
		res.State = Failed
	case outcome.Wait > 0:
		res.State = Waiting
	default:
		res.State = Done
	}
	return res
}

// conclude ends a step, and observes it.
func (r *run) conclude(i int, res Result) {
	if res.State == Done {
		r.mu.Lock()
		Learn(r.have, res.Step, res.Outcome)
		r.mu.Unlock()
		r.engine.losses.learnStep(res.Step, r.began)
	}
	r.engine.options.Observe(res)
	r.end(i, res)
	r.restoreOld(i, res)
	r.updateInstead(i, res)
	r.undoReplacements(i, res)
}

// isEnded reports whether a step has a result.
func (r *run) isEnded(i int) bool { return r.results[i].State != "" }

// end records the result of a step, and updates the steps behind it.
func (r *run) end(i int, res Result) {
	r.results[i] = res
	ended := &r.results[i]
	cause := ended
	if r.causes[i] != nil {
		cause = r.causes[i]
	}
	for _, behind := range r.graph.Needed[i] {
		if ended.State == Done {
			r.nearer(behind)
		} else {
			r.block(behind, ended, cause)
		}
	}
}

// block ends a step that cannot run because of another one, or all behind a barrier,
// unless it makes room for the step that has failed. Behind a waiting step they wait
// too; behind a failed one they are skipped.
func (r *run) block(node int, because, cause *Result) {
	if node < r.graph.Steps && makesRoom(r.steps[node], because, cause) {
		r.nearer(node)
		return
	}
	if r.blocked[node] != nil {
		return
	}
	r.blocked[node] = because
	if node >= r.graph.Steps {
		for _, behind := range r.graph.Needed[node] {
			r.block(behind, because, cause)
		}
		return
	}
	if r.isEnded(node) {
		return
	}
	r.causes[node] = cause
	state := Skipped
	if because.State == Waiting {
		state = Waiting
	}
	r.conclude(node, Result{Step: r.steps[node], State: state, Because: because.Step.ID})
}

// leaveRest reports the steps that never started.
func (r *run) leaveRest(stopped bool) {
	for i, s := range r.steps {
		switch {
		case r.isEnded(i):
		case stopped:
			r.results[i] = Result{Step: s, State: Waiting, Outcome: plan.Outcome{Wait: time.Second}}
		default:
			r.results[i] = Result{Step: s, State: Skipped}
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
	out := Report{Have: r.have, Results: r.results}
	for _, again := range r.restores {
		out.Results = append(out.Results, again.Result)
	}
	return out
}
