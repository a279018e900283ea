package laws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// isKnown returns the exception that covers a violation; -1: none.
func (s *Subject) isKnown(v Violation) int {
	return slices.IndexFunc(s.Known, func(k Known) bool {
		m := v.Scenario.Moves[0]
		if k.Law != v.Law || k.Only != "" && !v.isShown() || !k.Only.holds(v.Scenario) || !s.isMoveOf(k, v.Scenario) {
			return false
		}
		byNeighbour := func(step plan.Step) bool { return step.ID.Owner != m.Owner && k.Neighbour.matches(step.ID) }
		byItself := func(step plan.Step) bool { return step.ID.Owner == m.Owner && k.After.matches(step.ID) }
		if k.Neighbour != (Match{}) && !slices.ContainsFunc(v.Steps, byNeighbour) || k.After != (Match{}) && !slices.ContainsFunc(v.Steps, byItself) {
			return false
		}
		for _, want := range k.Refused {
			if !slices.ContainsFunc(v.Scenario.Refuse, func(r Refusal) bool { return want.matches(r.Step) }) {
				return false
			}
		}
		return true
	})
}

// isShown reports whether users can see the violation before it happens: traffic is lost only behind
// a step that the plan marks as interrupting.
func (v Violation) isShown() bool {
	return v.Law != NothingLost || slices.ContainsFunc(v.Steps, func(s plan.Step) bool { return s.Impact != plan.NoImpact })
}

// isMoveOf reports whether the moves of a scenario are those of an exception.
func (s *Subject) isMoveOf(k Known, c Scenario) bool {
	m := c.Moves[0]
	if k.From != "" && k.From != s.caseName(m.From) || k.To != "" && k.To != s.caseName(m.To) {
		return false
	}
	return k.Beside == "" || slices.ContainsFunc(c.Moves[1:], func(m Move) bool { return s.caseName(m.From) == k.Beside })
}

func (m Match) matches(id plan.StepID) bool {
	return (m.Action == "" || m.Action == id.Action) && (m.Kind == "" || m.Kind == id.Key.Kind) && strings.HasPrefix(id.Part, m.Part)
}

func (s *Subject) knownText(k Known) string {
	return fmt.Sprintf("%s: %s, %s -> %s, refused %v: %s", s.Name, k.Law, k.From, k.To, k.Refused, k.Reason)
}
