package plan

import "github.com/berth-lb/berth/stack"

// Summary counts what a plan does. Create, Update, Replace, Delete and Forget
// count resources, parts made in their parent's call included: a resource that
// is created and then given its attributes is one creation, and what completes one
// counts as created. Held and Waiting count steps.
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

// Steps tells how many resources the steps that are not held concern.
func (s Summary) Steps() int { return s.Create + s.Update + s.Replace + s.Delete + s.Forget }

// strength orders what is done to one resource: of several steps the strongest
// names it.
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

// completes tells whether a step gives what is created what its creation cannot.
func (s StepDoc) completes() bool { return s.Action == Update && s.Reason == Initial }

func summarize(p Doc) Summary {
	done := map[stack.Key]strength{}
	for _, s := range p.Steps {
		done[s.Target.Key] = max(done[s.Target.Key], strengthOf(s))
		for _, r := range s.With {
			done[r.Key] = max(done[r.Key], creates)
		}
	}
	out := Summary{Held: len(p.Held), Waiting: waiting(p.Steps)}
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

// waiting counts the gated steps and those that need one, directly or through
// others of the same plan.
func waiting(steps []StepDoc) int {
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
