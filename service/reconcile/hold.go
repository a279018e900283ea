package reconcile

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// holdUnseen blocks steps that cannot be decided without a kind that the read could not
// see. The refusal of the read is the reason.
func holdUnseen(blind providers.Blind, have *stack.Stack) plan.StepFilter {
	return func(s plan.Step) plan.Verdict {
		refusal, unseen := blind[s.ID.Key.Kind]
		if !unseen {
			return plan.Verdict{}
		}
		if _, seen := have.Get(s.ID.Key); seen && s.ID.Action == plan.Update {
			return plan.Verdict{}
		}
		return plan.Verdict{Blocked: true, By: plan.ByBlind, Why: "resources of the kind " + string(s.ID.Key.Kind) + " could not be read" + because(refusal)}
	}
}

// because returns the refusal of a read as the end of a sentence.
func because(refusal error) string {
	if refusal == nil {
		return ""
	}
	return ": " + strings.Join(strings.Fields(refusal.Error()), " ")
}

// populated are the found resources that have members: a set of a part of theirs
// is not empty.
func (r *Reconciler) populated(have *stack.Stack) map[stack.Key]bool {
	out := map[stack.Key]bool{}
	for _, res := range have.Resources {
		for _, f := range stack.Fields(res.Spec) {
			if _, set := r.cloud.Rules.Kinds[res.Key.Kind].Sets[f.Name]; set && !emptySlice(f.Value) && res.In != (stack.Key{}) {
				out[res.In] = true
			}
		}
	}
	return out
}

// keepMembers holds the steps that would empty a load balancer because a filter
// matched no node although there are nodes: more often a mistake than a wish.
// A replacement would do the same as a removal, since the new one stays empty.
func keepMembers(eligible int, populated map[stack.Key]bool) plan.StepFilter {
	why := fmt.Sprintf("no node matches although %d could: the last ones stay", eligible)
	return func(s plan.Step) plan.Verdict {
		if s.Reason == plan.Replaced && populated[s.ID.Key] {
			return plan.Verdict{Blocked: true, By: plan.ByFilter, Why: why}
		}
		for _, ch := range s.Changes {
			if s.ID.Action == plan.Update && len(ch.Removed) > 0 && emptySlice(ch.To) {
				return plan.Verdict{Blocked: true, By: plan.ByFilter, Why: why}
			}
		}
		return plan.Verdict{}
	}
}
