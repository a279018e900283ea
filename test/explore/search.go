package explore

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Budget bounds a search.
type Budget struct {
	Schedules  int           // how many are performed beyond the usual run
	Deviations int           // how many a random one has at most
	Seed       uint64        // of the random ones
	Time       time.Duration // after which no further schedule is begun; 0: no end
	Failures   int           // after which the search ends; 0: 3, for further ones are mostly the same
}

// Failure is a schedule that shows a fault, as short as it can be.
type Failure struct {
	Tale     string
	Schedule Schedule
	Report   *Report
}

// search is one under way.
type search struct {
	*Explorer
	t       *testing.T
	tale    Tale
	budget  Budget
	began   time.Time
	figures Figures
	random  *rand.Rand
}

// Search performs a tale by default, then all schedules with one deviation, then all with
// two, then random ones: every second with more, the others from a random state of the cloud
// with fewer, within the budget. Where one part would take more than
// half of the remaining budget, it is sampled to that half. A default run that fails ends the
// search.
func (e *Explorer) Search(t *testing.T, tale Tale, b Budget) Figures {
	if b.Failures == 0 {
		b.Failures = 3
	}
	s := &search{Explorer: e, t: t, tale: tale, budget: b, began: time.Now(), figures: newFigures(), random: rand.New(rand.NewPCG(b.Seed, 1))}
	usual := s.try(nil)
	if len(usual.Faults) > 0 {
		return s.figures
	}
	var pairs []Schedule
	for _, one := range s.draw(deviateMore(nil, usual)) {
		if s.over() {
			break
		}
		if r := s.try(one); s.worthPairs(len(pairs)) {
			pairs = append(pairs, deviateMore(one, r)...)
		}
	}
	for _, two := range s.drawPairs(pairs) {
		if s.over() {
			break
		}
		s.try(two)
	}
	for s.figures.Schedules < b.Schedules && !s.over() {
		if s.figures.Schedules%2 == 0 {
			s.try(s.fromElsewhere(usual.Steps))
			continue
		}
		s.try(Random(s.random, usual.Steps, 2+s.random.IntN(max(b.Deviations-1, 1))))
	}
	s.figures.Took = time.Since(s.began)
	return s.figures
}

// fromElsewhere is a random schedule that begins in a random state, with up to two
// deviations.
func (s *search) fromElsewhere(steps int) Schedule {
	begin := Planned{Step: atStart, Pick: s.random.IntN(1 << 16)}
	return append(Schedule{begin}, Random(s.random, steps, s.random.IntN(3))...)
}

// worthPairs reports whether more pairs are of use: not if there are many more than can be
// performed.
func (s *search) worthPairs(have int) bool { return have < 4*s.budget.Schedules }

func (s *search) over() bool {
	return s.budget.Time > 0 && time.Since(s.began) > s.budget.Time || len(s.figures.Failed) >= s.budget.Failures
}

// try performs a schedule and counts it.
func (s *search) try(plan Schedule) *Report {
	r := s.Perform(s.t, s.tale, plan)
	s.figures.count(s.tale, r)
	if len(r.Faults) > 0 {
		less, again := s.Shrink(s.t, s.tale, plan, r)
		s.figures.Failed = append(s.figures.Failed, Failure{Tale: s.tale.Name, Schedule: less, Report: again})
		s.t.Logf("%q, schedule %s fails", s.tale.Name, less) // a long search tells the story only when it ends
	}
	return r
}

// draw returns all schedules of a list, or a random sample of half the remaining budget.
func (s *search) draw(all []Schedule) []Schedule {
	most := max((s.budget.Schedules-s.figures.Schedules)/2, 0)
	if len(all) <= most {
		return all
	}
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:most]
}

// near is within how many steps two deviations are most likely to meet.
const near = 5

// drawPairs draws from schedules with two deviations: if there are too many, as many from
// those whose deviations are near each other as from all.
func (s *search) drawPairs(all []Schedule) []Schedule {
	most := max((s.budget.Schedules-s.figures.Schedules)/2, 0)
	if len(all) <= most {
		return all
	}
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all[most/2:], func(a, b Schedule) int {
		return cmp.Compare(max(a[1].Step-a[0].Step, near), max(b[1].Step-b[0].Step, near))
	})
	return all[:most]
}

// deviateMore returns every schedule with one deviation more than a run had, after all of its own.
func deviateMore(plan Schedule, r *Report) []Schedule {
	first := 0
	if len(plan) > 0 {
		first = plan[len(plan)-1].Step + 1
	}
	var out []Schedule
	for step := first; step < len(r.Passed); step++ {
		for _, pick := range r.Passed[step].picks() {
			out = append(out, append(plan[:len(plan):len(plan)], Planned{Step: step, Pick: pick}))
		}
	}
	return out
}
