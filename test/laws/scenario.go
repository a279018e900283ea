package laws

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// How is what becomes of a step.
type How int

const (
	// None performs the step.
	None How = iota
	// Refused does not perform it, and the cloud says so.
	Refused
	// Lost does not perform it, and no answer arrives.
	Lost
	// Unanswered performs it, and no answer arrives.
	Unanswered
	// Slow performs it, and the answer is that it takes time.
	Slow
	// Held has a policy of the operator block it.
	Held
)

func (h How) String() string {
	return [...]string{"performed", "refused", "not performed without an answer", "performed without an answer", "performed slowly", "blocked by a policy"}[h]
}

// Refusal is a step that is not performed as planned.
type Refusal struct {
	Step plan.StepID
	ID   string     // of the target; empty for a new one
	In   stack.Key  // the resource that the target is part of
	Spec stack.Spec // of the target, so that a restored resource is another step
	How  How
	// Once ends the refusal after the first time; else it lasts until the cloud is said to
	// accept everything.
	Once bool
}

func (r Refusal) String() string {
	text := r.Step.String() + " " + r.How.String()
	if r.Once {
		text += " once"
	}
	return text
}

// Order says which of the runnable steps is performed first.
type Order int

const (
	// Planned is the order of the plan.
	Planned Order = iota
	// DeletesFirst performs deletions as early as their needs allow.
	DeletesFirst
	// Reverse performs the last steps of the plan as early as their needs allow.
	Reverse
)

// Move is what one Service does: it is changed from one case to another.
type Move struct {
	Owner    stack.Owner
	From, To int // cases; -1: the Service does not exist
}

// Scenario is one run of the laws.
type Scenario struct {
	Moves  []Move // the first one changes; the others are neighbours
	Refuse []Refusal
	Order  Order
	First  plan.StepID // performed as early as its needs allow; zero: none
	// Restart ends the process after so many performed steps; the next process begins with
	// the neighbours. 0: never.
	Restart int
	// Forgets reads the cloud again before every plan, as a new process does.
	Forgets bool
	// Open has every gate open from the beginning.
	Open bool
	// Quota makes a refusal one that room could cure.
	Quota bool
}

func (s Scenario) meaning() fault.Meaning {
	if s.Quota {
		return fault.Quota
	}
	return fault.Invalid
}

// describe names the scenario in one line.
func (s *Subject) describe(c Scenario) string {
	var parts []string
	for _, m := range c.Moves {
		parts = append(parts, fmt.Sprintf("%s: %s -> %s", m.Owner.Name, s.caseName(m.From), s.caseName(m.To)))
	}
	for _, r := range c.Refuse {
		parts = append(parts, r.String())
	}
	if c.Order != Planned {
		parts = append(parts, [...]string{"", "deletions first", "last steps first"}[c.Order])
	}
	if c.First != (plan.StepID{}) {
		parts = append(parts, "as early as it may: "+c.First.String())
	}
	if c.Restart > 0 {
		parts = append(parts, fmt.Sprintf("restart after %d steps", c.Restart))
	}
	if c.Forgets {
		parts = append(parts, "reads before every plan")
	}
	if c.Open {
		parts = append(parts, "gates open")
	}
	if c.Quota {
		parts = append(parts, "quota")
	}
	return strings.Join(parts, "; ")
}

func (s *Subject) caseName(i int) string {
	if i < 0 {
		return "(none)"
	}
	return s.Cases[i].Name
}
