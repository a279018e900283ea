package explore

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/test/props"
)

// How long a world is watched.
const (
	// quiet is how long nothing happens before the next user acts.
	quiet = 8 * time.Second
	// repose is for how long nothing may be written until all counts as done: longer than
	// the interval after which everything is read again, and than the pause after a refused
	// replacement.
	repose = 70 * time.Minute
	// calm is for how long nothing happens before what Services say of themselves is held
	// against the cloud: longer than the longest pause after a failure, and much shorter
	// than the interval after which everything is read again.
	calm = 6 * time.Minute
	// lateness is when what a deposed process had under way takes effect.
	lateness = 2 * time.Second
	// mostSteps ends a schedule that does not come to rest.
	mostSteps = 6000
)

// Planned is a deviation at the nth step of a run. Pick selects one of the deviations that
// apply there.
type Planned struct{ Step, Pick int }

// Schedule is what deviates from the usual, in the order of steps.
type Schedule []Planned

// Move is a change by a user or another controller.
type Move struct {
	Name string
	Do   func(*world)
	// Creates is the name of the Service that the move creates; empty: none.
	Creates string
	shape   Shape // of that Service
	// Settled has everything come to rest, and be judged, before this move.
	Settled bool
	// Later starts the move so long after the previous one, whatever is running; 0: when all is
	// quiet.
	Later time.Duration
	// Restart ends the newest process and starts another one.
	Restart bool
	// Check returns what is wrong at this move, of which Do makes nothing; empty: nothing is.
	// It is asked if no more deviated than checkable.
	Check func(*world) string
}

// checkable is after how many deviations it can still be said by when something must be
// done: each that fails doubles a pause.
const checkable = 2

// Report is what became of a schedule.
type Report struct {
	Began   string   // the state of the cloud, where the schedule selects it
	Story   []string // what happened, a line each
	Passed  []Passed // points that proceeded, or were held up or disturbed, by step
	Decided uint64   // what was decided at all steps, as a digest
	Taken   []Taken  // what deviated, where
	Writes  []string // calls that took effect
	Faults  []string // what is wrong
	Steps   int
}

// Passed is a point at a step.
type Passed struct {
	Point
	Alone bool // no other point waited
	Over  bool // no user was still to come
}

// picks are the deviations that change something at the step, by number.
func (p Passed) picks() []int {
	var out []int
	for i, d := range p.options() {
		if !p.nothing(d) {
			out = append(out, i)
		}
	}
	return out
}

// nothing reports whether a deviation is the default here.
func (p Passed) nothing(d Deviation) bool {
	return d.Kind == Last && p.Alone || d.Kind == User && p.Over
}

// Taken is a deviation that took place at a point.
type Taken struct {
	At  Point
	How Deviation
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// runner is one schedule under way.
type runner struct {
	w      *world
	moves  []Move
	plan   Schedule
	report *Report
	held   map[*Point]time.Time
	late   map[*Point]bool // writes of processes that have ended
	alarms []alarm
	active time.Time // when a point last proceeded
	moved  time.Time // when a move was made last
	calmed time.Time // what active was when it was judged after a calm
	judge  *judge
	digest hash.Hash64
	life   context.Context //nolint:containedctx // of all processes of the schedule
}

// performAll performs the moves in a world.
func performAll(ctx context.Context, w *world, moves []Move, plan Schedule) *Report {
	r := &runner{w: w, moves: moves, plan: plan, report: &Report{}, digest: fnv.New64a(), held: map[*Point]time.Time{}, late: map[*Point]bool{}, active: time.Now(), life: ctx}
	if err := r.prepare(ctx); err != nil {
		r.report.fault("the schedule cannot begin: %v", err)
		return r.report
	}
	if len(plan) > 0 {
		w.remember()
	}
	w.begin(ctx)
	for r.report.Steps < mostSteps && len(r.report.Faults) == 0 {
		synctest.Wait()
		r.judge.glance(r.report)
		if r.ring() {
			continue
		}
		if ready := r.ready(); len(ready) > 0 {
			r.step(ready)
			continue
		}
		if !r.idle() {
			break
		}
	}
	if r.report.Steps >= mostSteps && !w.hasForgotten() {
		r.report.fault("it does not come to rest within %d steps", mostSteps)
	}
	r.report.Writes, r.report.Decided = w.written(), r.digest.Sum64()
	return r.report
}

// prepare makes the judge, and brings cloud and cluster into the state in which the schedule
// begins.
func (r *runner) prepare(ctx context.Context) (err error) {
	s := startOf(r.plan, r.w.subject)
	r.moves, err = s.begin(ctx, r.w, r.moves, func() (err error) {
		r.judge, err = newJudge(ctx, r.w)
		return err
	})
	if s != nil {
		r.moved = time.Now() // the start may have performed the first move
		r.report.Story = append(r.report.Story, strings.Repeat(" ", 14)+"** "+s.String())
		if err == nil {
			r.report.Began, err = props.StateOf(r.w.subject.Control)
		}
	}
	return err
}

// ready are the points that may go on now.
func (r *runner) ready() []*Point {
	now := time.Now()
	return slices.DeleteFunc(r.w.gate.pending(), func(p *Point) bool {
		return r.held[p].After(now) || !p.Write && r.w.numbered(p.Process).sleeps()
	})
}

// step lets one point go on.
func (r *runner) step(ready []*Point) {
	p := ready[0]
	here := Passed{Point: Point{Party: p.Party, What: p.What, Write: p.Write}, Alone: len(ready) == 1, Over: len(r.moves) == 0 || r.moves[0].Later > 0}
	d := r.planned(p, here)
	r.report.Steps++
	r.report.Passed = append(r.report.Passed, here)
	if p.Party != Cloud || p.Write || d.Kind != Usual {
		r.active = time.Now()
	}
	if d.Kind != Usual {
		r.report.Taken = append(r.report.Taken, Taken{here.Point, d})
	}
	switch d.Kind {
	case Slow:
		r.tell(p, d)
		r.held[p] = time.Now().Add(d.For)
		return
	case User:
		r.tell(p, d)
		r.move()
		return
	case Die, Depose:
		r.tell(p, d)
		r.succeed(d.Kind)
		return
	case Sleep:
		r.tell(p, d)
		r.putToSleep(d.For)
		return
	case Late:
		r.tell(p, d)
		r.outlive(p, d.For)
		return
	case Last:
		p = ready[len(ready)-1]
	default: // it proceeds, in the way that the deviation requires
	}
	if r.late[p] {
		d.Kind = Late
	}
	r.tell(p, d)
	delete(r.held, p)
	r.w.gate.release(p, d)
}

// planned is the deviation that the schedule has for this step; the usual one where it has
// none, or one that would change nothing here.
func (r *runner) planned(p *Point, here Passed) Deviation {
	at := slices.IndexFunc(r.plan, func(d Planned) bool { return d.Step == r.report.Steps })
	if at < 0 {
		return Deviation{}
	}
	options := p.options()
	d := options[r.plan[at].Pick%len(options)]
	_, was := r.held[p]
	if was && d.Kind == Slow || d.Kind == Stale && r.w.subject.Consistent || here.nothing(d) {
		return Deviation{}
	}
	return d
}

func (r *runner) tell(p *Point, d Deviation) {
	_, _ = fmt.Fprintln(r.digest, p.Process, p.Party, p.What, d) // a digest does not fail
	line := fmt.Sprintf("%4d %8s p%d %s %s", r.report.Steps-1, time.Since(r.judge.began).Round(time.Millisecond), p.Process, p.Party, p.What)
	if d.Kind != Usual {
		line += "  <== " + d.String()
	}
	r.report.Story = append(r.report.Story, line)
}

// succeed ends the newest process and begins another one.
func (r *runner) succeed(how Kind) {
	old := r.newest()
	r.forgetStripped()
	if how == Depose {
		old.depose()
		r.sendOut(old)
	} else {
		old.end()
	}
	r.w.begin(r.life)
}

// move makes the next change, if there is one.
func (r *runner) move() {
	if len(r.moves) == 0 {
		return
	}
	m := r.moves[0]
	r.moves = r.moves[1:]
	r.report.Story = append(r.report.Story, strings.Repeat(" ", 14)+"** "+m.Name)
	if m.Do != nil {
		m.Do(r.w)
		r.active = time.Now()
	}
	if m.Restart {
		r.succeed(Die)
		r.active = time.Now()
	}
	if m.Check != nil && len(r.report.Taken) <= checkable {
		if wrong := m.Check(r.w); wrong != "" {
			r.report.fault("%s: %s", m.Name, wrong)
		}
	}
	r.moved = time.Now()
}

// due returns the latest time of the next action if nothing happens: the world is judged, the
// next move starts, or a delayed point proceeds.
func (r *runner) due(now time.Time, wait time.Duration) time.Time {
	due := r.active.Add(wait)
	if wait == repose && !r.calmed.Equal(r.active) {
		due = r.active.Add(calm)
	}
	if len(r.moves) > 0 && r.moves[0].Later > 0 {
		due = r.moved.Add(r.moves[0].Later)
	}
	for _, a := range r.alarms {
		if a.at.Before(due) {
			due = a.at
		}
	}
	for _, at := range r.held {
		if at.After(now) && at.Before(due) {
			due = at
		}
	}
	return due
}

// idle lets time pass until something happens; false when all is done and at rest.
func (r *runner) idle() bool {
	wait := quiet
	if len(r.moves) == 0 || r.moves[0].Settled {
		wait = repose
	}
	now := time.Now()
	due := r.due(now, wait)
	if !due.After(now) {
		if now.Before(r.active.Add(wait)) && wait == repose {
			r.calmed = r.active
			r.judge.calm(r.report)
			return true
		}
		if len(r.moves) == 0 {
			r.judge.end(r.report)
			return false
		}
		if r.moves[0].Settled {
			r.judge.settled(r.report)
		}
		r.move()
		return true
	}
	timer := time.NewTimer(due.Sub(now))
	defer timer.Stop()
	select {
	case <-r.w.gate.arrived:
	case <-timer.C:
	}
	return true
}
