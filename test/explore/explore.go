package explore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/test/sim/virtual"
)

// Explorer performs schedules over one cloud.
type Explorer struct {
	New func(t testing.TB) Subject
	Log klog.Logger // of the processes; the zero value keeps nothing
	// World changes each world before it begins; nil: none.
	World func(*world)
}

// Perform runs a tale under a schedule, in virtual time.
func (e *Explorer) Perform(t *testing.T, tale Tale, plan Schedule) (report *Report) {
	virtual.Test(t, func(t *testing.T) {
		w := newWorld(e.New(t))
		w.log = e.Log
		if e.World != nil {
			e.World(w)
		}
		defer w.close()
		report = performAll(t.Context(), w, tale.Moves, plan)
	})
	return report
}

// Random is a schedule of some deviations among the steps that a usual run has, and
// some more.
func Random(random *rand.Rand, steps, deviations int) Schedule {
	out := Schedule{}
	for range deviations {
		out = append(out, Planned{Step: random.IntN(steps + steps/4 + 1), Pick: random.IntN(1 << 16)})
	}
	return out
}

// Shrink leaves out of a failing schedule what it fails without.
func (e *Explorer) Shrink(t *testing.T, tale Tale, plan Schedule, report *Report) (Schedule, *Report) {
	for i := 0; i < len(plan); {
		less := append(append(Schedule{}, plan[:i]...), plan[i+1:]...)
		if again := e.Perform(t, tale, less); len(again.Faults) > 0 {
			plan, report = less, again
			continue
		}
		i++
	}
	return plan, report
}

// String is how a schedule is kept and replayed.
func (s Schedule) String() string {
	var parts []string
	for _, p := range s {
		parts = append(parts, fmt.Sprintf("%d:%d", p.Step, p.Pick))
	}
	return strings.Join(parts, ",")
}

// ParseSchedule reads what String writes.
func ParseSchedule(text string) (Schedule, error) {
	var out Schedule
	if text == "" {
		return out, nil
	}
	for _, part := range strings.Split(text, ",") {
		var p Planned
		if _, err := fmt.Sscanf(part, "%d:%d", &p.Step, &p.Pick); err != nil {
			return nil, fmt.Errorf("schedule %q: %q is no step and pick such as 12:3", text, part)
		}
		out = append(out, p)
	}
	return out, nil
}

// Tell is a failing schedule as a story.
func (r *Report) Tell() string {
	return strings.Join(r.Story, "\n") + "\n\nWhat is wrong:\n" + strings.Join(r.Faults, "\n")
}

func diffLines(a, b string) string {
	return cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n"))
}
