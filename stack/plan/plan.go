package plan

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// Held is a step that may not run now, and why.
type Held struct {
	Step Step
	By   string // "policy no-delete", "ledger", "proof", "blind", "gate", "needs create listener/tcp-80"
	Why  string // one sentence for the user
}

// Plan is everything that turns what was found into what is wanted for one owner.
type Plan struct {
	Owner stack.Owner
	Steps []Step
	Held  []Held
}

// Empty tells whether there is nothing to do and nothing held.
func (p Plan) Empty() bool { return len(p.Steps) == 0 && len(p.Held) == 0 }

// Writes tells whether any step would make a writing call.
func (p Plan) Writes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.ID.Action != Forget })
}

// Verdict is a policy's answer to one step.
type Verdict struct {
	Held bool
	By   string
	Why  string
}

// Policy judges one step. It is pure and sees nothing but the step.
type Policy func(Step) Verdict

// Under applies policies: a step that one of them holds is taken out, and with
// it every step that needs it and the other half of its replacement, so that
// never half of a change is made.
func (p Plan) Under(policies ...Policy) Plan {
	held := map[StepID]Held{}
	for _, s := range p.Steps {
		for _, judge := range policies {
			if v := judge(s); v.Held {
				held[s.ID] = Held{Step: s, By: v.By, Why: v.Why}
				break
			}
		}
	}
	if len(held) == 0 {
		return p
	}
	p.spread(held)
	out := Plan{Owner: p.Owner, Held: slices.Clone(p.Held)}
	for _, s := range p.Steps {
		if h, ok := held[s.ID]; ok {
			out.Held = append(out.Held, h)
		} else {
			out.Steps = append(out.Steps, s)
		}
	}
	return out
}

// spread extends held to all that depends on it until nothing more is added.
func (p Plan) spread(held map[StepID]Held) {
	for again := true; again; {
		again = false
		for _, s := range p.Steps {
			if _, done := held[s.ID]; done {
				continue
			}
			if cause, ok := p.cause(s, held); ok {
				held[s.ID] = Held{Step: s, By: "needs " + cause.String(), Why: "held together with: " + cause.String()}
				again = true
			}
		}
	}
}

// cause finds the held step that holds s as well: one it needs, or the other
// half of its replacement.
func (p Plan) cause(s Step, held map[StepID]Held) (StepID, bool) {
	for _, need := range s.Needs {
		if _, ok := held[need]; ok {
			return need, true
		}
	}
	if s.Reason != Replaced {
		return StepID{}, false
	}
	for id := range held {
		if id.Key == s.ID.Key && held[id].Step.Reason == Replaced {
			return id, true
		}
	}
	return StepID{}, false
}

// DryRun holds everything.
func DryRun(Step) Verdict {
	return Verdict{Held: true, By: "policy dry-run", Why: "dry run: nothing is written"}
}

// NoDelete holds every deletion.
func NoDelete(s Step) Verdict {
	if s.ID.Action != Delete {
		return Verdict{}
	}
	return Verdict{Held: true, By: "policy no-delete", Why: "deletions are not allowed by policy"}
}

// NoReplace holds every replacement.
func NoReplace(s Step) Verdict {
	if s.Reason != Replaced {
		return Verdict{}
	}
	return Verdict{Held: true, By: "policy no-replace", Why: "replacements are not allowed by policy"}
}

// NoInterrupt holds every step that cuts traffic for more than seconds.
func NoInterrupt(s Step) Verdict {
	if s.Impact != Interrupts {
		return Verdict{}
	}
	return Verdict{Held: true, By: "policy no-interrupt", Why: "steps that interrupt traffic are not allowed by policy"}
}
