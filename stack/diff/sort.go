package diff

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// sorted puts the steps into an order that respects their needs, otherwise in
// the order of their identifiers. Steps that wait for each other in a circle,
// and those behind them, come back apart.
func sorted(steps []plan.Step) (ordered, circle []plan.Step) {
	left := slices.Clone(steps)
	slices.SortFunc(left, func(a, b plan.Step) int { return a.ID.Compare(b.ID) })
	done := map[plan.StepID]bool{}
	known := map[plan.StepID]bool{}
	for _, s := range left {
		known[s.ID] = true
	}
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(s plan.Step) bool {
			return !slices.ContainsFunc(s.Needs, func(n plan.StepID) bool { return known[n] && !done[n] })
		})
		if i < 0 {
			return ordered, left
		}
		done[left[i].ID] = true
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered, nil
}

// holdCircle holds steps that wait for each other: none of them could ever run.
// The others go on.
func (c *comparison) holdCircle(steps []plan.Step) {
	ids := make([]string, len(steps))
	for i, s := range steps {
		ids[i] = s.ID.String()
	}
	for _, s := range steps {
		if !c.holds[s.ID].Held {
			c.hold(s.ID, "cycle", "these steps wait for each other, which is a defect of the rule table: "+strings.Join(ids, ", "))
		}
	}
}
