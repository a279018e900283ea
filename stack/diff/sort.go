package diff

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// sorted puts the steps into an order that respects their needs, otherwise in
// the order of their identifiers. Steps that wait for each other in a circle
// are returned as held instead: running half of a circle helps nobody.
func sorted(steps []plan.Step) (ordered []plan.Step, cycle []plan.Held) {
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
			return nil, circle(left)
		}
		done[left[i].ID] = true
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered, nil
}

func circle(left []plan.Step) []plan.Held {
	ids := make([]string, len(left))
	for i, s := range left {
		ids[i] = s.ID.String()
	}
	var out []plan.Held
	for _, s := range left {
		out = append(out, plan.Held{Step: s, By: "cycle", Why: "these steps wait for each other, which is a defect of the rule table: " + strings.Join(ids, ", ")})
	}
	return out
}
