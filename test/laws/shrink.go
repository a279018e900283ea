package laws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// shrink returns a simpler run that breaks the same law.
func (w *sweep) shrink(v Violation) Violation {
	for again := true; again; {
		again = false
		for _, c := range simplerRuns(v.Scenario) {
			if found, ok := w.breaks(c, v.Law); ok {
				v, again = found, true
				break
			}
		}
	}
	return v
}

// breaks runs a scenario and returns its violation of a law.
func (w *sweep) breaks(c Scenario, law Law) (Violation, bool) {
	_, e := w.reference(c.Moves)
	x := &run{subject: w.subject, scenario: c, world: w.start(c.Moves), expected: e, day: Today, excused: make([]bool, len(e.needs))}
	x.perform()
	for _, v := range x.broken {
		if v.Law == law && w.subject.isKnown(v) < 0 {
			return v, true
		}
	}
	return Violation{}, false
}

// simplerRuns lists scenarios with one thing less.
func simplerRuns(c Scenario) []Scenario {
	var out []Scenario
	add := func(change func(*Scenario)) {
		d := c
		d.Moves, d.Refuse = slices.Clone(c.Moves), slices.Clone(c.Refuse)
		change(&d)
		out = append(out, d)
	}
	for i := 1; i < len(c.Moves); i++ {
		add(func(d *Scenario) { d.Moves = slices.Delete(d.Moves, i, i+1) })
	}
	for i := range c.Refuse {
		add(func(d *Scenario) { d.Refuse = slices.Delete(d.Refuse, i, i+1) })
		if c.Refuse[i].How != Refused || c.Refuse[i].Once {
			add(func(d *Scenario) { d.Refuse[i].How, d.Refuse[i].Once = Refused, false })
		}
	}
	if c.Restart > 0 {
		add(func(d *Scenario) { d.Restart = 0 })
	}
	if c.Order != Planned {
		add(func(d *Scenario) { d.Order = Planned })
	}
	if c.First != (plan.StepID{}) {
		add(func(d *Scenario) { d.First = plan.StepID{} })
	}
	if c.Forgets {
		add(func(d *Scenario) { d.Forgets = false })
	}
	if c.Open {
		add(func(d *Scenario) { d.Open = false })
	}
	if c.Quota {
		add(func(d *Scenario) { d.Quota = false })
	}
	return out
}

// Report renders a violation: the scenario, and the flows before, desired and left.
func (s *Subject) Report(v Violation) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s: %s\n  %s\n", s.Name, v.Law, v.Detail, s.describe(v.Scenario))
	for _, part := range []struct {
		name  string
		flows []traffic.Flow
	}{{"before", v.Before}, {"desired", v.Wanted}, {"left", v.Left}} {
		fmt.Fprintf(&out, "  %s:\n%s", part.name, indentText(traffic.Text(part.flows)))
	}
	out.WriteString("  steps:\n")
	for _, step := range v.Steps {
		text := step.ID.String()
		if step.Impact != plan.NoImpact {
			text += " (" + string(step.Impact) + ")"
		}
		out.WriteString(indentText(step.ID.Owner.Name + ": " + text + "\n"))
	}
	for _, c := range v.Clashes {
		out.WriteString(indentText("the cloud refused " + c + "\n"))
	}
	return out.String()
}

func indentText(text string) string {
	if text == "" {
		return "    (nothing)\n"
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}
