package plan

import "github.com/berth-lb/berth/stack"

// Summary counts the changes of a plan. Create, Update, Replace, Delete and Forget
// count resources, including parts created in their parent's call: a resource that is
// created and then gets its attributes is one creation, and so is a step that completes
// one. Held and Waiting count steps.
type Summary struct {
	Create  int `json:"create"`
	Update  int `json:"update"`
	Replace int `json:"replace"`
	Delete  int `json:"delete"`
	Forget  int `json:"forget"`
	Held    int `json:"held"`
	Waiting int `json:"waiting"` // gated, or behind a gated step
}

// Plus adds two summaries.
func (s Summary) Plus(o Summary) Summary {
	return Summary{
		Create:  s.Create + o.Create,
		Update:  s.Update + o.Update,
		Replace: s.Replace + o.Replace,
		Delete:  s.Delete + o.Delete,
		Forget:  s.Forget + o.Forget,
		Held:    s.Held + o.Held,
		Waiting: s.Waiting + o.Waiting,
	}
}

// Steps returns the number of resources of steps that are not blocked.
func (s Summary) Steps() int { return s.Create + s.Update + s.Replace + s.Delete + s.Forget }

// strength orders the actions on one resource: the strongest of several steps counts.
type strength int

const (
	forgets strength = iota + 1
	updates
	deletes
	creates
	replaces
)

func strengthOf(s StepDoc) strength {
	switch {
	case s.Replacement != NoReplacement:
		return replaces
	case s.Action == Create:
		return creates
	case s.Action == Delete:
		return deletes
	case s.completes():
		return creates
	case s.Action == Update:
		return updates
	default:
		return forgets
	}
}

// completes reports whether a step completes a creation.
func (s StepDoc) completes() bool { return s.Action == Update && s.Reason == Initial }

func summarizeDoc(p Doc) Summary {
	done := map[stack.Key]strength{}
	for _, s := range p.Steps {
		done[s.Target.Key] = max(done[s.Target.Key], strengthOf(s))
		for _, r := range s.With {
			done[r.Key] = max(done[r.Key], creates)
		}
	}
	out := Summary{Held: len(p.Held), Waiting: countGated(p.Steps)}
	for _, what := range done {
		switch what {
		case forgets:
			out.Forget++
		case updates:
			out.Update++
		case deletes:
			out.Delete++
		case creates:
			out.Create++
		case replaces:
			out.Replace++
		}
	}
	return out
}

// countGated counts the gated steps and the steps that need one, directly or through
// others of the same plan.
func countGated(steps []StepDoc) int {
	behind := map[string][]string{}
	waits := map[string]bool{}
	var left []string
	for _, s := range steps {
		if s.Gate != nil {
			left = append(left, s.ID)
			waits[s.ID] = true
		}
		for _, n := range s.Needs {
			if n.Owner == nil {
				behind[n.Step] = append(behind[n.Step], s.ID)
			}
		}
	}
	for len(left) > 0 {
		id := left[len(left)-1]
		left = left[:len(left)-1]
		for _, next := range behind[id] {
			if !waits[next] {
				waits[next] = true
				left = append(left, next)
			}
		}
	}
	return len(waits)
}
