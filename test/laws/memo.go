package laws

import (
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// memo is what has been computed from one state of the cloud. Most runs of a move differ in
// one refusal and pass through the same states, so each is planned, performed and judged once.
type memo struct {
	flows     []traffic.Flow
	judged    bool // flows are computed
	next      map[plan.StepID][]transition
	planned   map[planStep]transition
	builds    map[build]*stack.Stack
	statuses  map[build]*World
	plans     map[planKey]*planned
	knowledge map[stack.Owner][]*stack.Stack // what processes knew of a Service, each once
	verdict   *verdict                       // of one expectation
}

// transition is a performed step and the state that it leads to.
type transition struct {
	step    plan.Step
	claimed bool // another Service wants what the step deletes
	outcome plan.Outcome
	world   *World
}

// build names a stack that is built from known resources.
type build struct {
	at   int // case
	day  Day
	have *stack.Stack // of the owner
}

// planKey names a plan for known resources. It depends on what other Services want and have.
type planKey struct {
	move   Move
	day    Day
	have   *stack.Stack
	others entries
}

// planned is a plan, and the desired and the observed stack that it is for.
type planned struct {
	plan          plan.Plan
	desired, have *stack.Stack
	orders        map[orderKey]*ordering
	runs          map[runKey]*performance
	held          map[plan.StepID]*planned // by the step that a policy blocks
}

func newPlanned(p plan.Plan, desired, have *stack.Stack) *planned {
	return &planned{plan: p, desired: desired, have: have, orders: map[orderKey]*ordering{}, runs: map[runKey]*performance{}}
}

// planStep is a step of a plan.
type planStep struct {
	of      *planned
	id      plan.StepID
	claimed bool
}

// runKey says how a plan is performed.
type runKey struct {
	places string
	open   bool
}

// performance is a run of the engine in which every step was performed, or waits for a gate.
type performance struct {
	steps  []plan.Step
	worlds []*World // after each step
	have   *stack.Stack
	gated  bool
}

func newMemo() *memo {
	return &memo{
		next: map[plan.StepID][]transition{}, planned: map[planStep]transition{}, builds: map[build]*stack.Stack{}, statuses: map[build]*World{},
		plans: map[planKey]*planned{}, knowledge: map[stack.Owner][]*stack.Stack{},
	}
}

// performed returns the state after a step, and the outcome. It does not change the world.
func (x *run) performed(b plan.Batch, s plan.Step) (*World, plan.Outcome) {
	claimed := s.ID.Action == plan.Delete && s.Target.Ownership == stack.Shared && b.Claims != nil && len(b.Claims.Others(s.ID.Owner, s.Target)) > 0
	m := x.world.memo
	at := planStep{x.current, s.ID, claimed}
	if x.current == nil || !x.current.has(s) {
		t := m.find(x.world, s, claimed)
		return t.world, t.outcome
	}
	t, ok := m.planned[at]
	if !ok {
		t = m.find(x.world, s, claimed)
		m.planned[at] = t
	}
	return t.world, t.outcome
}

// has reports whether the step is one of the plan, and not one in place of it.
func (p *planned) has(s plan.Step) bool {
	return slices.ContainsFunc(p.plan.Steps, func(o plan.Step) bool {
		return o.ID == s.ID && o.Reason == s.Reason && o.Why == s.Why && o.Pair == s.Pair && len(o.Changes) == len(s.Changes)
	})
}

// find returns the transition of a step, which is performed once.
func (m *memo) find(w *World, s plan.Step, claimed bool) transition {
	for _, t := range m.next[s.ID] {
		if t.claimed == claimed && sameStep(t.step, s) {
			return t
		}
	}
	t := transition{step: s, claimed: claimed, world: w.clone()}
	if t.outcome = t.world.perform(s, claimed); t.outcome.Err == nil {
		t.world = t.world.known()
	}
	m.next[s.ID] = append(m.next[s.ID], t)
	return t
}

// sameStep reports whether two steps with one identifier write the same.
func sameStep(a, b plan.Step) bool {
	return a.Reason == b.Reason && a.Pair == b.Pair && sameResource(&a.Target, &b.Target) && reflect.DeepEqual(a.Found, b.Found) &&
		reflect.DeepEqual(a.Changes, b.Changes) && reflect.DeepEqual(a.With, b.With)
}

// canonical returns the stack with the same resources that was known of a Service in this
// state before, or what is observed, or the stack itself.
func (x *run) canonical(o stack.Owner, have *stack.Stack) *stack.Stack {
	if read := x.world.Observed(o); have == read || sameResources(have, read) {
		return read
	}
	m := x.world.memo
	for _, known := range m.knowledge[o] {
		if known == have || sameResources(known, have) {
			return known
		}
	}
	m.knowledge[o] = append(m.knowledge[o], have)
	return have
}

// built returns what a case wants. It builds once from the same resources.
func (x *run) built(at int, o stack.Owner, have *stack.Stack) *stack.Stack {
	key := build{at, x.day, have}
	want, known := x.world.memo.builds[key]
	if !known {
		want = x.subject.Cases[at].Build(x.world, o, x.day, have)
		x.world.memo.builds[key] = want
	}
	return want
}

// publish has a Service publish what its case says of what the process knows.
func (x *run) publish(m Move, at int) {
	if at < 0 || x.subject.Cases[at].Publish == nil {
		return
	}
	have, memo := x.have(m.Owner), x.world.memo
	key := build{at, x.day, have}
	if memo.statuses[key] == nil {
		memo.statuses[key] = x.world.publish(m.Owner, x.subject.Cases[at].Publish(x.world, m.Owner, x.day, have))
	}
	x.world = memo.statuses[key]
}

// plan returns what is to do for a Service, and the stacks that it is for. It depends on the
// state of the cloud and on what the process knows.
func (x *run) plan(m Move) *planned {
	have := x.have(m.Owner)
	key := planKey{move: m, day: x.day, have: have, others: x.process.entries}
	key.others[indexOf(m.Owner)] = entry{}
	known := x.world.memo.plans[key]
	if known == nil {
		known = x.newPlan(m, have)
		x.world.memo.plans[key] = known
		return known
	}
	x.enterPlan(m, known.desired, have)
	return known
}

// replay repeats a run of the engine that nothing has disturbed, and reports whether it was
// known.
func (x *run) replay(p *planned, key runKey) (*stack.Stack, bool) {
	known := p.runs[key]
	if known == nil || x.process.owes || x.disturbs(p, len(known.steps)) {
		return nil, false
	}
	for i, s := range known.steps {
		x.world = known.worlds[i]
		x.pass(s)
	}
	x.gated = x.gated || known.gated
	return known.have, true
}

// isRepeatable reports whether every step was performed, or waits for a gate, so that a run of
// the same plan has the same result.
func isRepeatable(report engine.Report) bool {
	return !slices.ContainsFunc(report.Results, func(res engine.Result) bool {
		waits := res.State == engine.Waiting && res.Outcome.Err == nil && res.Outcome.Sent == plan.NotSent
		return res.State != engine.Done && !waits || len(res.Outcome.Refused) > 0
	}) && !owesCreate(report)
}

// owesCreate reports whether a resource was deleted for a new one that was not created. The
// engine remembers that.
func owesCreate(report engine.Report) bool {
	isDone := func(id plan.StepID) bool {
		return slices.ContainsFunc(report.Results, func(res engine.Result) bool { return res.Step.ID == id && res.State == engine.Done })
	}
	return slices.ContainsFunc(report.Results, func(res engine.Result) bool {
		pair := res.Step.Pair
		return pair.Restore && res.Step.ID == pair.Delete && res.State == engine.Done && !isDone(pair.Create)
	})
}

// disturbs reports whether the scenario may change a run of a plan that performs so many steps.
func (x *run) disturbs(p *planned, steps int) bool {
	if x.cuts && len(x.steps)+steps >= x.scenario.Restart {
		return true
	}
	refused := func(s plan.Step) bool {
		return slices.ContainsFunc(x.scenario.Refuse, func(r Refusal) bool { return r.Step == s.ID }) && x.peek(s) >= 0
	}
	return slices.ContainsFunc(p.plan.Steps, func(s plan.Step) bool { return refused(s) || slices.ContainsFunc(s.Otherwise, refused) })
}

// sameResources reports whether two stacks have the same resources, in any order.
func sameResources(a, b *stack.Stack) bool {
	if len(a.Resources) != len(b.Resources) {
		return false
	}
	for i := range a.Resources {
		r, other := &a.Resources[i], &b.Resources[i]
		if other.Key != r.Key {
			found, ok := b.Get(r.Key)
			if !ok {
				return false
			}
			other = &found
		}
		if !sameResource(r, other) {
			return false
		}
	}
	return true
}

func sameResource(a, b *stack.Resource) bool {
	return a.Key == b.Key && a.ID == b.ID && a.In == b.In && a.Ownership == b.Ownership && a.Slot == b.Slot && a.Proof == b.Proof && a.State == b.State &&
		sameSpec(a.Spec, b.Spec)
}
