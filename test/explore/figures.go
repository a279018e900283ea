package explore

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Figures are what searches have covered.
type Figures struct {
	Schedules, Steps int
	Took             time.Duration // of the one search; of several together
	Failed           []Failure

	decided map[string]bool         // what schedules decided, each once
	points  map[Point]map[Kind]bool // places by what they are about, and what deviated there
}

func newFigures() Figures {
	return Figures{decided: map[string]bool{}, points: map[Point]map[Kind]bool{}}
}

// Distinct is how many schedules decided otherwise than all others of their tale.
func (f *Figures) Distinct() int { return len(f.decided) }

// identity is what differs between things of one sort in the name of a point.
var identity = regexp.MustCompile(`[^ /.:]*[0-9][^ /.:]*`)

// place is a point without what differs between things of one sort.
func (f *Figures) place(p Point) Point {
	return Point{Party: p.Party, What: identity.ReplaceAllString(p.What, "*"), Write: p.Write}
}

// count adds what became of a schedule.
func (f *Figures) count(tale Tale, r *Report) {
	f.Schedules++
	f.Steps += r.Steps
	f.decided[fmt.Sprint(tale.Name, " ", r.Decided)] = true
	if len(r.Taken) == 0 || f.Schedules%pointsEvery == 0 {
		for _, p := range r.Passed {
			f.at(p.Point)
		}
	}
	for _, t := range r.Taken {
		f.at(t.At)[t.How.Kind] = true
	}
}

// pointsEvery is of how many schedules one is looked through for points.
const pointsEvery = 16

func (f *Figures) at(p Point) map[Kind]bool {
	where := f.place(p)
	if f.points[where] == nil {
		f.points[where] = map[Kind]bool{}
	}
	return f.points[where]
}

// Add adds the figures of another search.
func (f *Figures) Add(g Figures) {
	f.Schedules, f.Steps, f.Took = f.Schedules+g.Schedules, f.Steps+g.Steps, f.Took+g.Took
	f.Failed = append(f.Failed, g.Failed...)
	maps.Copy(f.decided, g.decided)
	for where, kinds := range g.points {
		if f.points[where] == nil {
			f.points[where] = map[Kind]bool{}
		}
		maps.Copy(f.points[where], kinds)
	}
}

// covered is at how many pairs of a point and a deviation that makes sense there
// something was tried, and of how many.
func (f *Figures) covered() (tried, all int) {
	for where, kinds := range f.points {
		possible := map[Kind]bool{}
		for _, d := range where.options() {
			possible[d.Kind] = true
		}
		tried, all = tried+len(kinds), all+len(possible)
	}
	return tried, all
}

// Table shows figures by cloud.
func Table(clouds map[string]Figures) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name string, f Figures) {
		tried, all := f.covered()
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.0f\t%d\t%d of %d\n", name, f.Schedules, f.Distinct(), f.Steps, float64(f.Schedules)/max(f.Took.Seconds(), 0.001), len(f.points), tried, all)
	}
	fmt.Fprintln(w, "cloud\tschedules\tdistinct\tsteps\tper second\tpoints\tdeviations at points")
	schedules, distinct := 0, 0
	for _, name := range slices.Sorted(maps.Keys(clouds)) {
		f := clouds[name]
		line(name, f)
		schedules, distinct = schedules+f.Schedules, distinct+f.Distinct()
	}
	fmt.Fprintf(w, "all\t%d\t%d\n", schedules, distinct)
	_ = w.Flush() // a builder takes everything
	return b.String()
}
