package preview

import (
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// replacedSuffix marks the keys of resources that exist beside their replacement. No
// name in a cloud contains it.
const replacedSuffix = " (replaced)"

// performSteps returns the observed stack before the plan and after each of its steps.
func performSteps(have *stack.Stack, steps []plan.Step) []*stack.Stack {
	out := []*stack.Stack{have.Clone()}
	for _, s := range steps {
		now := out[len(out)-1].Clone()
		performStep(now, s)
		out = append(out, now)
	}
	return out
}

// performStep changes the stack as the cloud does when it accepts the step.
func performStep(now *stack.Stack, s plan.Step) {
	old := s.ID.Key
	old.Name += replacedSuffix
	switch {
	case s.ID.Action == plan.Create && s.Pair.Order == plan.CreateFirst && s.Pair.Delete.Key == s.ID.Key:
		setAside(now, s.ID.Key)
	case s.ID.Action == plan.Delete && s.Pair.Order == plan.CreateFirst:
		if _, beside := now.Get(old); beside {
			now.Drop(old)
		} else if s.Pair.Create.Key != s.ID.Key {
			now.Drop(s.ID.Key)
		}
		return
	}
	if s.ID.Action == plan.Create && s.Target.Ownership == stack.Shared {
		if _, exists := now.Get(s.ID.Key); exists {
			return
		}
	}
	engine.Learn(now, s, plan.Outcome{Sent: plan.WasSent})
}

// setAside gives a resource that is about to be replaced, and its parts, keys of their
// own. What referred to them still does.
func setAside(now *stack.Stack, key stack.Key) {
	moved := map[stack.Key]stack.Key{}
	aside := func(k stack.Key) {
		to := k
		to.Name += replacedSuffix
		moved[k] = to
	}
	aside(key)
	for again := true; again; {
		again = false
		for _, r := range now.Resources {
			_, parent := moved[r.In]
			if _, done := moved[r.Key]; parent && !done && r.Ownership != stack.Shared {
				aside(r.Key)
				again = true
			}
		}
	}
	list := make([]stack.Resource, len(now.Resources))
	for i, r := range now.Resources {
		if to, ok := moved[r.Key]; ok {
			r.Key = to
		}
		if to, ok := moved[r.In]; ok {
			r.In = to
		}
		r.Spec = stack.Rebind(r.Spec, func(ref stack.Ref) stack.Ref {
			if to, ok := moved[ref.To]; ok {
				ref.To = to
			}
			return ref
		})
		list[i] = r
	}
	now.Resources = list
}
