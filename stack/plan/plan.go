package plan

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// Plan is the list of steps from the observed to the desired state of one owner.
type Plan struct {
	Owner   stack.Owner
	Steps   []Step
	Blocked []Blocked
}

// Empty reports whether there are no steps, blocked ones included.
func (p Plan) Empty() bool { return len(p.Steps) == 0 && len(p.Blocked) == 0 }

// Writes reports whether any step makes a write call.
func (p Plan) Writes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.ID.Action != Forget })
}

// AnyBlocked reports whether a step is blocked for the reason.
func (p Plan) AnyBlocked(why BlockedBy) bool {
	return slices.ContainsFunc(p.Blocked, func(h Blocked) bool { return h.By == why })
}

// StepFilter judges one step. It is pure and depends only on the step.
type StepFilter func(Step) Verdict

// Under applies policies: it removes each step that one of them blocks, every step
// that needs it and the other half of its replacement, so that no change is half
// performed. The updates that are performed in place of a blocked step remain.
func (p Plan) Under(policies ...StepFilter) Plan {
	held := map[StepID]Blocked{}
	for _, s := range p.Steps {
		if b, blocked := blockedBy(policies, s); blocked {
			held[s.ID] = b
		}
	}
	if len(held) == 0 {
		return p
	}
	p.spread(held)
	out := Plan{Owner: p.Owner, Blocked: slices.Clone(p.Blocked)}
	for _, s := range p.Steps {
		if h, ok := held[s.ID]; ok {
			out.Blocked = append(out.Blocked, h)
			out.Steps = append(out.Steps, substitutesOf(s, held, policies)...)
		} else {
			out.Steps = append(out.Steps, s)
		}
	}
	return out
}

// blockedBy returns why one of the policies blocks a step; false: none does.
func blockedBy(policies []StepFilter, s Step) (Blocked, bool) {
	for _, judge := range policies {
		if v := judge(s); v.Blocked {
			return Blocked{Step: s, By: v.By, Policy: v.Policy, Why: v.Why}, true
		}
	}
	return Blocked{}, false
}

// substitutesOf returns what may be performed in place of a blocked step.
func substitutesOf(s Step, held map[StepID]Blocked, policies []StepFilter) []Step {
	var out []Step
	for _, other := range s.Otherwise {
		_, blocked := blockedBy(policies, other)
		isHeld := func(id StepID) bool { _, ok := held[id]; return ok }
		if other.ID.Action == Update && !blocked && !slices.ContainsFunc(other.Needs, isHeld) {
			out = append(out, other)
		}
	}
	return out
}

// spread extends held to all dependent steps.
func (p Plan) spread(held map[StepID]Blocked) {
	graph := NewGraph(p.Steps)
	causes := make([]*StepID, len(graph.Needs)) // by node: the held step, or the first one in a barrier
	hold := func(i int) {
		causes[i] = &p.Steps[i].ID
		for _, behind := range graph.Needed[i] {
			if behind >= graph.Steps && causes[behind] == nil {
				causes[behind] = causes[i]
			}
		}
	}
	for i, s := range p.Steps {
		if _, ok := held[s.ID]; ok {
			hold(i)
		}
	}
	for again := true; again; {
		again = false
		for i, s := range p.Steps {
			if causes[i] != nil {
				continue
			}
			if cause := p.cause(graph, i, causes); cause != nil {
				held[s.ID] = Blocked{Step: s, By: ByNeeds, Needs: *cause, Why: "held together with: " + cause.String()}
				hold(i)
				again = true
			}
		}
	}
}

// cause returns the blocked step that blocks another as well: one it needs, the other half of
// its replacement, or one without which the replacement is of no use; nil: there is none.
func (p Plan) cause(graph *Graph, step int, causes []*StepID) *StepID {
	for _, need := range graph.Needs[step] {
		if causes[need] != nil {
			return causes[need]
		}
	}
	if p.Steps[step].Prepares {
		if cause := p.blockedUse(graph, step, step, causes); cause != nil {
			return cause
		}
	}
	pair := p.Steps[step].Pair
	if pair.IsZero() {
		return nil
	}
	if other, ok := graph.At(pair.Other(p.Steps[step].ID)); ok && causes[other] != nil {
		return causes[other]
	}
	for i, s := range p.Steps {
		if causes[i] != nil && slices.Contains(s.Undoes, pair) {
			return causes[i]
		}
	}
	return nil
}

// blockedUse returns the first of the blocked steps that need a step, or are behind the barrier
// at a node. It returns nil if one of them is not blocked, or none needs the step. Parts of
// the step's resource do not count.
func (p Plan) blockedUse(graph *Graph, node, step int, causes []*StepID) *StepID {
	var first *StepID
	for _, user := range graph.Needed[node] {
		if user < graph.Steps && p.Steps[user].Target.In == p.Steps[step].ID.Key {
			continue
		}
		cause := causes[user]
		if user >= graph.Steps { // a barrier: the steps behind it decide
			cause = p.blockedUse(graph, user, step, causes)
		}
		if cause == nil {
			return nil
		}
		if first == nil {
			first = cause
		}
	}
	return first
}

// DryRun blocks every step.
func DryRun(Step) Verdict {
	return blockedByPolicy("dry-run", "dry run: nothing is written")
}

// NoDelete blocks every deletion.
func NoDelete(s Step) Verdict {
	if s.ID.Action != Delete {
		return Verdict{}
	}
	return blockedByPolicy("no-delete", "deletions are not allowed by policy")
}

// NoReplace blocks every replacement.
func NoReplace(s Step) Verdict {
	if s.Reason != Replaced {
		return Verdict{}
	}
	return blockedByPolicy("no-replace", "replacements are not allowed by policy")
}

// NoInterrupt blocks every step that cuts traffic for more than seconds.
func NoInterrupt(s Step) Verdict {
	if s.Impact != Interrupts {
		return Verdict{}
	}
	return blockedByPolicy("no-interrupt", "steps that interrupt traffic are not allowed by policy")
}
