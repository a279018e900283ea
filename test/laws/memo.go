package laws

import (
	"reflect"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// memo is what has been computed from one state of the cloud. Most runs of a move differ in
// one refusal and pass through the same states, so each is planned, performed and judged once.
type memo struct {
	flows  []traffic.Flow
	judged bool // flows are computed
	next   map[plan.StepID][]transition
	builds map[build]*stack.Stack
	plans  map[build]planned
}

// transition is a performed step and the state that it leads to.
type transition struct {
	step    plan.Step
	claimed bool // another Service wants what the step deletes
	outcome plan.Outcome
	world   *World
}

// build names a stack that is built from what is observed.
type build struct {
	owner    stack.Owner
	from, to int // cases
	day      Day
}

// planned is a plan, and the desired and the observed stack that it is for.
type planned struct {
	plan          plan.Plan
	desired, have *stack.Stack
}

func newMemo() *memo {
	return &memo{next: map[plan.StepID][]transition{}, builds: map[build]*stack.Stack{}, plans: map[build]planned{}}
}

// performed returns the state after a step, and the outcome. It does not change the world,
// unless the subject remembers.
func (w *World) performed(b plan.Batch, s plan.Step) (*World, plan.Outcome) {
	claimed := s.ID.Action == plan.Delete && s.Target.Ownership == stack.Shared && b.Claims != nil && len(b.Claims.Others(s.ID.Owner, s.Target)) > 0
	if w.subject.Remembers {
		out := w.perform(s, claimed)
		w.memo = newMemo()
		return w, out
	}
	for _, t := range w.memo.next[s.ID] {
		if t.claimed == claimed && sameStep(t.step, s) {
			return t.world, t.outcome
		}
	}
	t := transition{step: s, claimed: claimed, world: w.clone()}
	t.outcome = t.world.perform(s, claimed)
	w.memo.next[s.ID] = append(w.memo.next[s.ID], t)
	return t.world, t.outcome
}

// sameStep reports whether two steps with one identifier write the same.
func sameStep(a, b plan.Step) bool {
	return a.Reason == b.Reason && a.Pair == b.Pair && reflect.DeepEqual(a.Target, b.Target) && reflect.DeepEqual(a.Found, b.Found) &&
		reflect.DeepEqual(a.Changes, b.Changes) && reflect.DeepEqual(a.With, b.With)
}

// built returns what a case wants. It builds once from what is observed.
func (x *run) built(at int, o stack.Owner, have *stack.Stack) *stack.Stack {
	if x.subject.Remembers || have != x.world.Observed(o) {
		return x.subject.Cases[at].Build(x.world, o, x.day, have)
	}
	key := build{owner: o, to: at, day: x.day}
	want, known := x.world.memo.builds[key]
	if !known {
		want = x.subject.Cases[at].Build(x.world, o, x.day, have)
		x.world.memo.builds[key] = want
	}
	return want
}

// plan returns what is to do for a Service, and the observed stack that it is for. Without
// neighbours that depends on the state of the cloud and the process's knowledge alone.
func (x *run) plan(m Move) (plan.Plan, *stack.Stack) {
	have := x.have(m.Owner)
	if x.subject.Remembers || len(x.scenario.Moves) > 1 || have != x.world.Observed(m.Owner) {
		return x.newPlan(m, have)
	}
	key := build{owner: m.Owner, from: m.From, to: m.To, day: x.day}
	known, ok := x.world.memo.plans[key]
	if !ok {
		known.plan, known.have = x.newPlan(m, have)
		known.desired = x.desired
		x.world.memo.plans[key] = known
	}
	x.desired = known.desired
	return known.plan, known.have
}

// sameResources reports whether two stacks have the same resources, in any order.
func sameResources(a, b *stack.Stack) bool {
	if len(a.Resources) != len(b.Resources) {
		return false
	}
	for _, r := range a.Resources {
		if other, ok := b.Get(r.Key); !ok || !reflect.DeepEqual(r, other) {
			return false
		}
	}
	return true
}
