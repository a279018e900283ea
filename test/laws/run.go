package laws

import (
	"context"
	"slices"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// maxPasses bounds how often all Services are reconciled before a run counts as unsettled.
const maxPasses = 8

// retried is how many passes a permanent refusal is met in.
const retried = 2

// run performs one scenario on one world.
type run struct {
	subject  *Subject
	scenario Scenario
	world    *World
	expected *expectation // nil: nothing is judged

	process *process
	steps   []plan.Step // performed
	met     []int       // how often each refusal was met
	room    []bool      // by refusal: a step has made room for what a quota refused
	lifted  bool        // nothing is refused any more
	clashes []string    // what the cloud itself refused
	stuck   bool        // in the last pass the cloud itself refused a step
	gated   bool        // a gate was closed
	cuts    bool        // the process ends at the restart of the scenario
	day     Day
	broken  []Violation
	excused []bool   // by need: an interrupting step is under way
	watch   func()   // called after each performed step; nil: nothing is
	current *planned // the plan that the engine runs
	trail   []*World // after each performed step
}

// process is the memory of one process.
type process struct {
	ledger *ledger.Ledger
	engine *engine.Engine
	known  map[stack.Owner]*stack.Stack
	open   bool // gates
	owes   bool // the engine may remember what it has deleted for a new resource that was not created
	// entries are what the ledger has, and since when.
	entries entries
	since   [maxOwners]time.Time
}

// entries are what each Service wants and was found to have, as the ledger has it.
type entries [maxOwners]entry

type entry struct{ want, found *stack.Stack }

// begin starts a process that knows no more than a new one: which Services exist, and what
// each wants and was found to have.
func (x *run) begin(moves []Move, was bool) {
	x.process = &process{ledger: ledger.New(), known: map[stack.Owner]*stack.Stack{}, open: x.scenario.Open}
	x.process.engine = engine.New(x.apply, x.process.ledger, engine.Options{PerOwner: 1, Spawn: func(call func()) { call() }})
	for i, m := range moves {
		at := m.To
		if was {
			at = m.From
		}
		if at < 0 {
			continue
		}
		x.publish(m, at)
		if want := x.built(at, m.Owner, x.world.Observed(m.Owner)); want != nil {
			x.enter(m.Owner, time.Unix(int64(i), 0), entry{want, x.world.Observed(m.Owner)})
		}
	}
	x.process.ledger.SetReady()
}

// kept returns desired resources with the ones that stay as long as they do.
func (x *run) kept(wanted []stack.Resource) []stack.Resource {
	out := slices.Clip(wanted)
	for _, r := range wanted {
		if keeps := x.subject.Rules.Kinds[r.Key.Kind].Keeps; keeps != nil && r.Ownership == stack.Shared {
			for _, key := range keeps(r.Key) {
				out = append(out, stack.Resource{Key: key, Ownership: stack.Shared})
			}
		}
	}
	return out
}

// perform runs the scenario until nothing changes any more, with the refusals and then
// without them.
func (x *run) perform() {
	moves := x.scenario.Moves
	x.met, x.room = make([]int, len(x.scenario.Refuse)), make([]bool, len(x.scenario.Refuse))
	x.begin(moves, true)
	x.cuts = x.scenario.Restart > 0
	settled := x.settle(moves)
	if x.cuts && len(x.steps) >= x.scenario.Restart {
		x.cuts = false
		neighboursFirst := append(slices.Clone(moves[1:]), moves[0])
		x.begin(neighboursFirst, false)
		settled = x.settle(neighboursFirst)
	}
	x.cuts = false
	x.judgeRest(settled)
	if len(x.scenario.Refuse) > 0 {
		x.lifted, x.process.open = true, true
		settled = x.settle(moves)
	}
	x.judgeEnd(settled)
}

// settle reconciles all Services until nothing changes; then it opens the gates and
// continues. It reports whether that took no more than the bound.
func (x *run) settle(moves []Move) bool {
	for pass := range maxPasses {
		before, clashes := x.progress(), len(x.clashes)
		for _, m := range moves {
			if x.reconcile(m); x.cut() {
				return true
			}
		}
		x.stuck = len(x.clashes) > clashes
		// A replacement that is refused is tried and restored again in every pass.
		if x.progress() == before || pass >= retried && x.refuses() {
			if x.process.open || !x.gated {
				return true
			}
			x.process.open = true
		}
	}
	return false
}

// refuses reports whether a step is refused for as long as the refusals last.
func (x *run) refuses() bool {
	for i, r := range x.scenario.Refuse {
		if !x.lifted && !r.Once && !x.room[i] {
			return true
		}
	}
	return false
}

// progress counts what a further pass could depend on.
func (x *run) progress() int {
	n := len(x.steps)
	for i, r := range x.scenario.Refuse {
		if r.Once {
			n += min(x.met[i], 1)
		}
	}
	return n
}

// cut reports whether the process has ended.
func (x *run) cut() bool { return x.cuts && len(x.steps) >= x.scenario.Restart }

// reconcile plans one Service and performs the plan.
func (x *run) reconcile(m Move) {
	x.publish(m, m.To)
	p := x.underPolicy(x.plan(m))
	if len(p.plan.Steps) == 0 {
		return
	}
	order := x.ordered(p)
	key := runKey{order.places, x.process.open}
	if have, ok := x.replay(p, key); ok {
		x.learn(m, have, false)
		return
	}
	x.current = p
	from, clashes, disturbed := len(x.steps), len(x.clashes), x.disturbs(p, len(p.plan.Steps))
	ordered := p.plan
	ordered.Steps = order.steps
	gated := false
	gates := func(plan.Gate) time.Duration {
		if x.process.open {
			return 0
		}
		gated = true
		return time.Minute
	}
	report := x.process.engine.Run(context.Background(), ordered, p.have, gates)
	x.gated = x.gated || gated
	x.process.owes = x.process.owes || owesCreate(report)
	have := x.canonical(m.Owner, report.Have)
	if !disturbed && len(x.clashes) == clashes && isRepeatable(report) && !report.Stale() {
		p.runs[key] = &performance{steps: slices.Clone(x.steps[from:]), worlds: slices.Clone(x.trail[from:]), have: have, gated: gated}
	}
	x.learn(m, have, report.Stale())
}

// learn takes over what a run of the engine has left.
func (x *run) learn(m Move, have *stack.Stack, stale bool) {
	if m.To >= 0 {
		at := &x.process.entries[indexOf(m.Owner)]
		if at.found != have {
			at.found = have
			x.hold(m.Owner, have)
		}
	}
	if stale || x.scenario.Forgets {
		delete(x.process.known, m.Owner)
		return
	}
	x.process.known[m.Owner] = have
}

// newPlan plans from an observed stack, and returns that with matched keys as well.
func (x *run) newPlan(m Move, have *stack.Stack) *planned {
	out := newPlanned(plan.Plan{Owner: m.Owner}, nil, have)
	want := &stack.Stack{Owner: m.Owner}
	if m.To >= 0 {
		want = x.built(m.To, m.Owner, have)
		if want == nil && m.From >= 0 { // refused: the last accepted configuration remains
			want = x.built(m.From, m.Owner, have)
		}
		if want == nil {
			return out
		}
		want.Owner = m.Owner
	}
	out.desired = want
	x.enterPlan(m, want, have)
	if m.To >= 0 && x.subject.Match != nil {
		out.have = x.subject.Match(want, have)
	}
	out.plan = diff.Compare(want, out.have, x.rules(m, out.have), x.process.ledger)
	if x.subject.planned != nil {
		x.subject.planned(x, m, out)
	}
	return out
}

// enterPlan enters what a plan wants into the ledger, and what it was found to have.
func (x *run) enterPlan(m Move, want, have *stack.Stack) {
	switch {
	case m.To < 0:
		x.process.ledger.Leave(m.Owner)
		x.process.entries[indexOf(m.Owner)] = entry{}
	case want != nil:
		since := slices.IndexFunc(x.scenario.Moves, func(o Move) bool { return o.Owner == m.Owner })
		x.enter(m.Owner, time.Unix(int64(since), 0), entry{want, have})
	}
}

// enter writes to the ledger what has changed for a Service.
func (x *run) enter(o stack.Owner, since time.Time, next entry) {
	at := &x.process.entries[indexOf(o)]
	if at.want != next.want {
		x.process.ledger.EnterSince(o, since, x.kept(next.want.Resources))
		x.process.since[indexOf(o)] = since
	}
	if at.found != next.found {
		x.hold(o, next.found)
	}
	*at = next
}

// rules returns the rules with which an observed stack of a Service is compared.
func (x *run) rules(m Move, have *stack.Stack) diff.Rules {
	rules := x.subject.Rules
	if m.To >= 0 && x.subject.Cases[m.To].Today != nil {
		rules.Today = func() *stack.Stack { return x.subject.Cases[m.To].Today(x.world, m.Owner, x.day, have) }
	}
	return rules
}

// hold enters what admits traffic and was found with evidence of an owner.
func (x *run) hold(o stack.Owner, have *stack.Stack) { x.process.ledger.Hold(o, x.held(have)) }

func (x *run) held(have *stack.Stack) []stack.Resource {
	var found []stack.Resource
	for _, r := range have.Resources {
		evident := r.Proof == stack.Tag || r.Proof == stack.Description || r.Proof == stack.Derived
		if evident && x.subject.Rules.Kinds[r.Key.Kind].Role.Is(diff.Admits) {
			found = append(found, r)
		}
	}
	return found
}

// have returns what the process knows of a Service. Shared resources are always read.
func (x *run) have(o stack.Owner) *stack.Stack {
	read, known := x.world.Observed(o), x.process.known[o]
	if known == nil || known == read {
		return read
	}
	out := &stack.Stack{Owner: o}
	for _, r := range known.Resources {
		if r.Ownership == stack.Owned {
			out.Resources = append(out.Resources, r)
		}
	}
	for _, r := range read.Resources {
		if r.Ownership != stack.Owned {
			out.Resources = append(out.Resources, r)
		}
	}
	return x.canonical(o, out)
}

// refusalOf returns what the scenario has for a step.
func (x *run) refusalOf(s plan.Step) How {
	at := x.peek(s)
	if at < 0 {
		return None
	}
	x.met[at]++
	return x.scenario.Refuse[at].How
}

// peek returns the refusal that a step would meet; -1: none.
func (x *run) peek(s plan.Step) int {
	for i, r := range x.scenario.Refuse {
		if x.lifted || x.room[i] || r.Step != s.ID || r.Once && x.met[i] > 0 {
			continue
		}
		if s.ID.Action == plan.Create && !sameSpec(r.Spec, s.Target.Spec) {
			continue // what existed before is restored
		}
		return i
	}
	return -1
}

// flows returns what the cloud lets through now.
func (x *run) flows() []traffic.Flow {
	if m := x.world.memo; !m.judged {
		m.flows, m.judged = x.newFlows(), true
	}
	return x.world.memo.flows
}

func (x *run) newFlows() []traffic.Flow {
	owners := x.world.Owners()
	view := make([]*stack.Stack, len(owners))
	for i, o := range owners {
		view[i] = x.world.Observed(o)
	}
	if len(owners) == 0 {
		view = append(view, x.world.Observed(stack.Owner{}))
	}
	return x.subject.Flows(view)
}
