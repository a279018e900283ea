package reconcile

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// holdUnseen blocks steps that cannot be decided without a kind that the read could not
// see: of resources of that kind, and updates that remove a reference to one. The refusal of the
// read is the reason.
func holdUnseen(blind providers.Blind, have *stack.Stack) plan.StepFilter {
	return func(s plan.Step) plan.Verdict {
		kind := s.ID.Key.Kind
		if _, seen := have.Get(s.ID.Key); seen && s.ID.Action == plan.Update {
			kind = unseenRemoved(blind, have, s)
		}
		refusal, unseen := blind[kind]
		if !unseen {
			return plan.Verdict{}
		}
		return plan.Verdict{Blocked: true, By: plan.ByBlind, Why: "resources of the kind " + string(kind) + " could not be read" + causeText(refusal)}
	}
}

// unseenRemoved returns the kind of a resource that the read could not see and to which the
// step removes a reference; empty if there is none.
func unseenRemoved(blind providers.Blind, have *stack.Stack, s plan.Step) stack.Kind {
	for _, ch := range s.Changes {
		for _, ref := range stack.Refs(ch.Removed) {
			_, seen := have.Get(ref.To)
			if _, unseen := blind[ref.To.Kind]; unseen && !seen {
				return ref.To.Kind
			}
		}
	}
	return ""
}

// causeText returns the refusal of a read as the end of a sentence.
func causeText(refusal error) string {
	if refusal == nil {
		return ""
	}
	return ": " + strings.Join(strings.Fields(refusal.Error()), " ")
}

// listPopulated returns the found resources that have members: a set of one of their parts is not
// empty.
func (r *Reconciler) listPopulated(have *stack.Stack) map[stack.Key]bool {
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

// keepMembers blocks the steps that would empty a load balancer because a filter matched no node
// although nodes exist, which is probably a mistake. A replacement has the same effect, because
// the new one has no members.
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

func emptySlice(v any) bool {
	rv := reflect.ValueOf(v)
	return !rv.IsValid() || (rv.Kind() == reflect.Slice && rv.Len() == 0)
}
