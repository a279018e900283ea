package engine

import (
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Learn applies the result of a done step to have: the answer of the cloud, not the
// desired values.
func Learn(have *stack.Stack, s plan.Step, o plan.Outcome) {
	switch s.ID.Action {
	case plan.Create:
		have.Drop(s.ID.Key) // parts of the old resource are not parts of the new one
		have.Put(completeResult(o.After, s.Target))
		for _, w := range s.With {
			have.Put(completeResult(partOf(o, w.Key), w))
		}
	case plan.Update:
		have.Put(applyUpdate(have, s, o))
	case plan.Delete, plan.Forget:
		if !replacedBefore(s) {
			have.Drop(s.ID.Key)
		}
	}
}

// replacedBefore reports whether the step deletes a resource that is already replaced:
// the key belongs to the new one by now.
func replacedBefore(s plan.Step) bool {
	return s.Pair.Delete == s.ID && s.Pair.Order == plan.CreateFirst
}

// partOf returns the provider's result for a part of the same call; without one the
// part was created as desired.
func partOf(o plan.Outcome, k stack.Key) stack.Resource {
	for _, p := range o.Parts {
		if p.Key == k {
			return p
		}
	}
	return stack.Resource{Key: k}
}

// completeResult adds to the provider's result the fields that only the plan has.
func completeResult(after, target stack.Resource) stack.Resource {
	if after.Spec == nil {
		after.Spec = target.Spec
	}
	after.Key, after.In, after.Ownership, after.Slot = target.Key, target.In, target.Ownership, target.Slot
	if after.Proof == stack.None {
		after.Proof = stack.Derived // we have just created it
	}
	return after
}

// applyUpdate returns the resource with the fields that the step wrote, and no others:
// several steps can write to one resource in any order.
func applyUpdate(have *stack.Stack, s plan.Step, o plan.Outcome) stack.Resource {
	now, ok := have.Get(s.ID.Key)
	if !ok {
		now = s.Target
		now.Spec = s.Found
		if now.Proof == stack.None {
			now.Proof = stack.Derived // it is a part of a resource of ours
		}
	}
	if now.ID == "" {
		now.ID = o.After.ID
	}
	if s.ID.Part == plan.PartRewrite {
		now.State = stack.Ready
	}
	now.Slot = s.Target.Slot
	after := o.After.Spec
	if after == nil {
		after = s.Target.Spec
	}
	for _, ch := range s.Changes {
		if len(ch.Added)+len(ch.Removed) > 0 {
			now.Spec = stack.With(now.Spec, ch.Field, changeSet(now.Spec, ch, o.Refused))
			continue
		}
		if value, ok := stack.Value(after, ch.Field); ok {
			now.Spec = stack.With(now.Spec, ch.Field, value)
		}
	}
	return now
}

// changeSet returns a set field after members were added and removed, in the order of
// the desired set for its members, so that equal sets stay equal.
func changeSet(spec stack.Spec, ch plan.Change, refused []plan.Refusal) any {
	value, _ := stack.Value(spec, ch.Field)
	current := reflect.ValueOf(value)
	if !current.IsValid() || current.Kind() != reflect.Slice {
		return ch.To
	}
	if added, removed := stack.Differ(ch.To, current.Interface()); len(refused) == 0 && slices.EqualFunc(added, ch.Added, deepEqual) && slices.EqualFunc(removed, ch.Removed, deepEqual) {
		return ch.To // complete: no need to sort thousands of members
	}
	var gone stack.Members
	for _, v := range ch.Removed {
		gone.Add(v)
	}
	kept := reflect.MakeSlice(current.Type(), 0, current.Len()+len(ch.Added))
	for i := range current.Len() {
		if !gone.Has(current.Index(i).Interface()) {
			kept = reflect.Append(kept, current.Index(i))
		}
	}
	for _, v := range ch.Added {
		if !wasRefused(refused, v) {
			kept = reflect.Append(kept, reflect.ValueOf(v))
		}
	}
	return sortMembers(kept, ch.To).Interface()
}

// sortMembers sorts members by their position in the desired set, others last. If the
// members equal the desired set, it returns the desired list itself, which many
// Services share.
func sortMembers(members reflect.Value, wanted any) reflect.Value {
	w := reflect.ValueOf(wanted)
	if !w.IsValid() || w.Kind() != reflect.Slice || w.Type() != members.Type() {
		return members
	}
	var there, taken stack.Members
	for i := range members.Len() {
		there.Add(members.Index(i).Interface())
	}
	out := reflect.MakeSlice(members.Type(), 0, members.Len())
	for i := range w.Len() {
		if v := w.Index(i).Interface(); there.Has(v) {
			taken.Add(v)
			out = reflect.Append(out, w.Index(i))
		}
	}
	for i := range members.Len() {
		if taken.Add(members.Index(i).Interface()) {
			out = reflect.Append(out, members.Index(i))
		}
	}
	if reflect.DeepEqual(out.Interface(), wanted) {
		return w
	}
	return out
}

// deepEqual is deep equality that is cheap for texts.
func deepEqual(a, b any) bool {
	if text, ok := a.(string); ok {
		return text == b
	}
	return reflect.DeepEqual(a, b)
}

func wasRefused(refused []plan.Refusal, v any) bool {
	for _, r := range refused {
		if reflect.DeepEqual(r.Member, v) {
			return true
		}
	}
	return false
}
