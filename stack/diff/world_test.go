package diff_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// world is a cloud without calls: existing resources, and operations that are refused.
// Two resources can exist under one key while one replaces the other, so they are
// distinguished by identity.
type world struct {
	rules  diff.Rules
	things []*thing // older ones first
}

type thing struct {
	res    stack.Resource
	parent *thing
	// uses are the things that a field led to when it was written.
	uses map[string][]*thing
}

func newWorld(rules diff.Rules, have *stack.Stack) *world {
	w := &world{rules: rules}
	for range 4 { // parents before parts, whatever the order
		for _, r := range have.Resources {
			if w.newest(r.Key) == nil && (w.newest(r.In) != nil || w.apart(r)) {
				w.things = append(w.things, &thing{res: r, parent: w.newest(r.In), uses: map[string][]*thing{}})
			}
		}
	}
	for _, t := range w.things {
		for _, f := range stack.Fields(t.res.Spec) {
			_ = w.write(t, f.Name, f.Value)
		}
	}
	return w
}

// apart reports whether the resource needs no parent in this world.
func (w *world) apart(r stack.Resource) bool { return r.In == (stack.Key{}) || r.In == theNodes }

func (w *world) newest(k stack.Key) *thing {
	for _, t := range slices.Backward(w.things) {
		if t.res.Key == k {
			return t
		}
	}
	return nil
}

// write sets a field and binds the references in it to what exists now.
func (w *world) write(t *thing, field string, value any) error {
	t.res.Spec = stack.With(t.res.Spec, field, value)
	t.uses[field] = nil
	for _, r := range stack.Refs(value) {
		used := w.newest(r.To)
		if used == nil {
			return fmt.Errorf("%s.%s refers to %s, which is not there", t.res.Key, field, r)
		}
		if used.res.Proof == stack.None {
			return fmt.Errorf("%s.%s would use another owner's %s", t.res.Key, field, r)
		}
		t.uses[field] = append(t.uses[field], used)
	}
	return nil
}

func (w *world) step(s plan.Step) error {
	switch s.ID.Action {
	case plan.Create:
		for _, r := range append([]stack.Resource{s.Target}, s.With...) {
			if err := w.create(r, s); err != nil {
				return err
			}
		}
		return nil
	case plan.Update:
		return w.update(s)
	case plan.Delete:
		return w.delete(s)
	default:
		w.things = slices.DeleteFunc(w.things, func(t *thing) bool { return t.res.Key == s.ID.Key })
		return nil
	}
}

func (w *world) create(r stack.Resource, s plan.Step) error {
	t := &thing{res: r, parent: w.newest(r.In), uses: map[string][]*thing{}}
	t.res.Proof = stack.Tag
	switch {
	case t.parent == nil && !w.apart(r):
		return fmt.Errorf("%s is made before %s", r.Key, r.In)
	case t.parent != nil && t.parent.res.Proof == stack.None:
		return fmt.Errorf("%s is made in another owner's %s", r.Key, r.In)
	case w.newest(r.Key) != nil && w.newest(r.Key).parent == t.parent && s.Reason != plan.Replaced:
		return fmt.Errorf("%s is made twice", r.Key)
	}
	if err := w.place(t); err != nil {
		return err
	}
	w.things = append(w.things, t)
	for _, f := range stack.Fields(r.Spec) {
		if err := w.write(t, f.Name, f.Value); err != nil {
			return err
		}
	}
	return nil
}

// place refuses a slot that is taken.
func (w *world) place(t *thing) error {
	for _, o := range w.things {
		if o != t && t.res.Slot != "" && o.res.Slot == t.res.Slot && o.parent == t.parent {
			return fmt.Errorf("%s takes %s, which %s has", t.res.Key, t.res.Slot, o.res.Key)
		}
	}
	return nil
}

func (w *world) update(s plan.Step) error {
	t := w.newest(s.ID.Key)
	if parent := w.newest(s.Target.In); t == nil || t.parent != parent {
		if parent == nil || !w.rules.Kinds[s.ID.Key.Kind].Within.Inherent {
			return fmt.Errorf("%s is updated but not there", s.ID.Key)
		}
		t = &thing{res: s.Target, parent: parent, uses: map[string][]*thing{}}
		t.res.Spec, t.res.Proof = s.Found, stack.Derived
		w.things = append(w.things, t)
	}
	if t.res.Proof == stack.None {
		return fmt.Errorf("another owner's %s is updated", s.ID.Key)
	}
	t.res.Slot = s.Target.Slot
	if err := w.place(t); err != nil {
		return err
	}
	for _, ch := range s.Changes {
		value := ch.To
		if len(ch.Added)+len(ch.Removed) > 0 {
			value = w.members(t, ch)
		}
		if err := w.write(t, ch.Field, value); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) members(t *thing, ch plan.Change) []string {
	var now []string
	for _, f := range stack.Fields(t.res.Spec) {
		if list, ok := f.Value.([]string); ok && f.Name == ch.Field {
			now = slices.Clone(list)
		}
	}
	now = slices.DeleteFunc(now, func(m string) bool { return slices.Contains(ch.Removed, any(m)) })
	for _, m := range ch.Added {
		now = append(now, m.(string))
	}
	return now
}

// delete removes the oldest resource under the key, with its parts.
func (w *world) delete(s plan.Step) error {
	i := slices.IndexFunc(w.things, func(t *thing) bool { return t.res.Key == s.ID.Key })
	if i < 0 {
		return fmt.Errorf("%s is deleted but not there", s.ID.Key)
	}
	gone := map[*thing]bool{w.things[i]: true}
	if w.things[i].res.Proof == stack.None {
		return fmt.Errorf("another owner's %s is deleted", s.ID.Key)
	}
	for _, t := range w.things {
		within := w.rules.Kinds[t.res.Key.Kind].Within
		if !gone[t.parent] || t.parent == nil {
			continue
		}
		if !within.Cascade && !within.Inherent {
			return fmt.Errorf("%s is deleted before its part %s", s.ID.Key, t.res.Key)
		}
		gone[t] = true
	}
	for _, t := range w.things {
		for field, used := range t.uses {
			if !gone[t] && slices.ContainsFunc(used, func(u *thing) bool { return gone[u] }) {
				return fmt.Errorf("%s is deleted while %s.%s uses it", s.ID.Key, t.res.Key, field)
			}
		}
	}
	w.things = slices.DeleteFunc(w.things, func(t *thing) bool { return gone[t] })
	return nil
}

// show is what exists, by key, without what only a cloud knows.
func (w *world) show() map[string]string {
	out := map[string]string{}
	for _, t := range w.things {
		name := t.res.Key.String()
		for out[name] != "" {
			name += " again"
		}
		out[name] = showSpec(t.res)
	}
	return out
}

func showStack(s *stack.Stack) map[string]string {
	out := map[string]string{}
	for _, r := range s.Resources {
		out[r.Key.String()] = showSpec(r)
	}
	return out
}

func showSpec(r stack.Resource) string {
	text := fmt.Sprintf("slot=%q", r.Slot)
	for _, f := range stack.Fields(r.Spec) {
		value := f.Value
		if list, ok := value.([]string); ok {
			value = slices.Sorted(slices.Values(list))
		}
		if f.Name != "Note" && f.Name != "DNS" { // ignored, sticky
			text += fmt.Sprintf(" %s=%v", f.Name, value)
		}
	}
	return text
}

// granted are the rules that let traffic through.
func (w *world) granted() map[string]bool {
	out := map[string]bool{}
	for _, t := range w.things {
		if t.res.Key.Kind == "rule" {
			out[t.res.Key.Name] = true
		}
	}
	return maps.Clone(out)
}
