package explore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// Budget bounds a search.
type Budget struct {
	Schedules  int           // how many are performed beyond the usual runs
	Deviations int           // how many a random one has at most
	Seed       uint64        // of the random ones
	Time       time.Duration // after which no further schedule is begun; 0: no end
}

// Figures are what a search has covered.
type Figures struct {
	Schedules, Steps int
	Kinds            map[Kind]int
	Took             time.Duration
	Failed           []Failure
}

// Failure is a schedule that shows a fault, as short as it can be.
type Failure struct {
	Tale     string
	Schedule Schedule
	Report   *Report
}

// Search performs each tale as usual, then all schedules with one deviation and random
// ones with more, as far as the budget goes. A usual run that fails ends the search of
// its tale.
func (e *Explorer) Search(t *testing.T, tales []Tale, b Budget) Figures {
	began := time.Now()
	figures := Figures{Kinds: map[Kind]int{}}
	over := func() bool { return b.Time > 0 && time.Since(began) > b.Time || len(figures.Failed) >= mostFailures }
	try := func(tale Tale, plan Schedule) *Report {
		r := e.Perform(t, tale, plan)
		figures.Schedules++
		figures.Steps += r.Steps
		for k, n := range r.Kinds {
			figures.Kinds[k] += n
		}
		if len(r.Faults) > 0 {
			plan, r = e.Shrink(t, tale, plan, r)
			figures.Failed = append(figures.Failed, Failure{Tale: tale.Name, Schedule: plan, Report: r})
		}
		return r
	}
	random := rand.New(rand.NewPCG(b.Seed, 1))
	for i, tale := range tales {
		usual := try(tale, nil)
		if len(usual.Faults) > 0 {
			continue
		}
		single := everyOne(usual)
		share := b.Schedules * (i + 1) / len(tales)
		if most := (share - figures.Schedules) / 2; len(single) > most { // those that are left out come another time, by the seed
			random.Shuffle(len(single), func(i, j int) { single[i], single[j] = single[j], single[i] })
			single = single[:max(most, 0)]
		}
		for _, plan := range single {
			if !over() {
				try(tale, plan)
			}
		}
		for figures.Schedules < share && !over() {
			try(tale, Random(random, usual.Steps, 2+random.IntN(max(b.Deviations-1, 1))))
		}
	}
	figures.Took = time.Since(began)
	return figures
}

// mostFailures ends a search: further ones are mostly the same.
const mostFailures = 3

// everyOne is every schedule with one deviation from the usual run.
func everyOne(usual *Report) []Schedule {
	var out []Schedule
	for step, options := range usual.Options {
		for pick := range options {
			out = append(out, Schedule{{Step: step, Pick: pick}})
		}
	}
	return out
}

// String is a line of a table.
func (f Figures) String() string {
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(f.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, f.Kinds[k]))
	}
	return fmt.Sprintf("%d schedules, %d steps, %.0f schedules/s; %s", f.Schedules, f.Steps, float64(f.Schedules)/max(f.Took.Seconds(), 0.001), strings.Join(kinds, ", "))
}
