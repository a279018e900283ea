package laws

import (
	"reflect"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// plannings are all plans of a sweep, by what its moves are called. With other rules that yield
// the same plans the same runs follow, so that nothing has to be performed to judge these rules.
type plannings struct {
	of map[string][]planning // by moves; empty: of the states that moves begin in
	at string                // the moves that are performed
}

// planning is a plan with its inputs.
type planning struct {
	run     run
	move    Move
	desired *stack.Stack
	have    *stack.Stack
	plan    plan.Plan
	entries entries
	since   [maxOwners]time.Time
	// concerns are the kinds of all resources that the plan depends on, written those of its steps.
	concerns, written map[stack.Kind]bool
}

// record keeps the plans that a subject computes from now on.
func (p *plannings) record(s *Subject) {
	if p.of == nil {
		p.of = map[string][]planning{}
	}
	s.planned = func(x *run, m Move, made *planned) {
		next := planning{
			run: run{subject: s, world: x.world, day: x.day}, move: m, desired: made.desired, have: made.have, plan: made.plan,
			entries: x.process.entries, since: x.process.since,
		}
		next.noteKinds()
		p.of[p.at] = append(p.of[p.at], next)
	}
}

// noteKinds computes the kinds of a planning.
func (p *planning) noteKinds() {
	p.concerns, p.written = map[stack.Kind]bool{}, map[stack.Kind]bool{}
	stacks := []*stack.Stack{p.desired, p.have}
	for _, e := range p.entries {
		stacks = append(stacks, e.want, e.found)
	}
	for _, s := range stacks {
		if s == nil {
			continue
		}
		for _, r := range s.Resources {
			p.concerns[r.Key.Kind] = true
		}
	}
	for _, s := range p.plan.Steps {
		p.written[s.ID.Key.Kind] = true
	}
	for _, held := range p.plan.Blocked {
		p.written[held.Step.ID.Key.Kind] = true
	}
}

// mayOrder reports whether an edge may order steps of the plan. A step that another one waits
// for is always part of it, among the blocked ones if not among the others.
func (p planning) mayOrder(e diff.Edge) bool {
	some := func(kind stack.Kind) bool { return p.written[kind] || kind == "" && len(p.written) > 0 }
	return some(e.First.Kind) && some(e.Then.Kind)
}

// differ reports whether a subject with other rules may plan anything else for moves. Plans that
// the other rules do not touch are the same.
func (p *plannings) differ(moves string, s *Subject, touches func(planning) bool) bool {
	if len(p.of[moves]) == 0 {
		return true // they were not performed with the rules as they are
	}
	for _, known := range p.of[moves] {
		if (touches == nil || touches(known)) && !reflect.DeepEqual(known.plan, known.again(s)) {
			return true
		}
	}
	return false
}

// again returns the plan with the rules of another subject.
func (p planning) again(s *Subject) plan.Plan {
	x := p.run
	x.subject = s
	l := ledger.New()
	for i, e := range p.entries {
		if e.want != nil {
			l.EnterSince(OwnerOf(i), p.since[i], x.kept(e.want.Resources))
		}
		if e.found != nil {
			l.Hold(OwnerOf(i), x.held(e.found))
		}
	}
	l.SetReady()
	return diff.Compare(p.desired, p.have, x.rules(p.move, p.have), l)
}
