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
}

// record keeps the plans that a subject computes from now on.
func (p *plannings) record(s *Subject) {
	if p.of == nil {
		p.of = map[string][]planning{}
	}
	s.planned = func(x *run, m Move, made *planned) {
		p.of[p.at] = append(p.of[p.at], planning{
			run: run{subject: s, world: x.world, day: x.day}, move: m, desired: made.desired, have: made.have, plan: made.plan,
			entries: x.process.entries, since: x.process.since,
		})
	}
}

// differ reports whether a subject with other rules may plan anything else for moves.
func (p *plannings) differ(moves string, s *Subject) bool {
	if len(p.of[moves]) == 0 {
		return true // they were not performed with the rules as they are
	}
	for _, known := range p.of[moves] {
		if !reflect.DeepEqual(known.plan, known.again(s)) {
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
