package diff

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// differences lists the fields of two specs that are not equal by the rule.
func (r Rule) differences(want, found stack.Spec) []plan.Change {
	if len(r.Equal) == 0 && reflect.DeepEqual(want, found) {
		return nil
	}
	observed := stack.Fields(found)
	var out []plan.Change
	for i, f := range stack.Fields(want) {
		old := valueAt(observed, i, f.Name)
		if slices.Contains(r.Ignore, f.Name) || r.same(f.Name, f.Value, old) {
			continue
		}
		forces := slices.Contains(r.Immutable, f.Name) && !slices.Contains(r.Fixed, f.Name)
		ch := plan.Change{Field: f.Name, From: old, To: f.Value, Forces: forces}
		if slices.Contains(r.Subset, f.Name) {
			ch.From = narrowMap(ch.From, ch.To)
		}
		if _, set := r.Sets[f.Name]; set {
			ch.Added, ch.Removed = stack.Differ(f.Value, old)
			if len(ch.Added)+len(ch.Removed) == 0 {
				continue // only the order differs
			}
		}
		out = append(out, ch)
	}
	return out
}

// valueAt returns the value of the field with the name, which is mostly at the place; nil: there
// is none.
func valueAt(fields []stack.Field, at int, name string) any {
	if at < len(fields) && fields[at].Name == name {
		return fields[at].Value
	}
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

func (r Rule) same(field string, want, found any) bool {
	if slices.Contains(r.Sticky, field) && isUnset(want) {
		return true
	}
	if equal := r.Equal[field]; equal != nil {
		return equal(want, found)
	}
	if slices.Contains(r.Subset, field) {
		return equalValues(want, narrowMap(found, want))
	}
	return equalValues(want, found)
}

// narrowMap returns an observed map with the desired keys only.
func narrowMap(found, want any) any {
	f, w := reflect.ValueOf(found), reflect.ValueOf(want)
	if f.Kind() != reflect.Map || w.Kind() != reflect.Map || f.Type() != w.Type() {
		return found
	}
	out := reflect.MakeMap(f.Type())
	for _, k := range w.MapKeys() {
		if v := f.MapIndex(k); v.IsValid() {
			out.SetMapIndex(k, v)
		}
	}
	return out.Interface()
}

// equalValues is deep equality in which an absent list or map equals an empty one.
func equalValues(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	return isEmpty(a) && isEmpty(b)
}

func isEmpty(v any) bool {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() {
		return true
	}
	return (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Map) && rv.Len() == 0
}

// isUnset reports whether a value is its zero value, or an empty list.
func isUnset(v any) bool { return isEmpty(v) || reflect.ValueOf(v).IsZero() }

// keepSticky fills sticky fields of the wanted spec with what was found, so that a
// call that writes several fields does not reset them.
func (r Rule) keepSticky(want, found stack.Spec) stack.Spec {
	for _, f := range stack.Fields(found) {
		if !slices.Contains(r.Sticky, f.Name) {
			continue
		}
		for _, w := range stack.Fields(want) {
			if w.Name == f.Name && isUnset(w.Value) {
				want = stack.With(want, f.Name, f.Value)
			}
		}
	}
	return want
}

// leaveFixed removes fields that can never be changed from an update, and reports them.
// The remaining update writes these fields as they were observed.
func (c *comparison) leaveFixed(w, found stack.Resource, rule Rule, diffs []plan.Change) (stack.Resource, []plan.Change) {
	var fixed, rest []plan.Change
	for _, ch := range diffs {
		if slices.Contains(rule.Fixed, ch.Field) {
			fixed = append(fixed, ch)
			w.Spec = stack.With(w.Spec, ch.Field, ch.From)
		} else {
			rest = append(rest, ch)
		}
	}
	if len(fixed) == 0 {
		return w, diffs
	}
	names := make([]string, len(fixed))
	for i, ch := range fixed {
		names[i] = ch.Field
	}
	step := plan.Step{
		ID: c.id(w.Key, plan.Update, partFixed), Target: w, Found: found.Spec, Changes: fixed, Reason: plan.Changed,
	}
	c.fixed = append(c.fixed, plan.Blocked{Step: step, By: plan.ByFixed, Why: strings.Join(names, ", ") +
		" cannot be changed any more and stays; undo the change, or make another Service with what it asks for"})
	return w, rest
}

// partFixed names the update that is never made.
const partFixed = "fixed"

// forcesReplacement reports whether one of the changes cannot be made in place.
func forcesReplacement(changes []plan.Change) bool {
	return slices.ContainsFunc(changes, func(c plan.Change) bool { return c.Forces })
}

// call is the changes that one writing call makes.
type call struct {
	part    string
	changes []plan.Change
}

// calls groups changes by the call that writes them: fields of the same part
// together, each set in calls that add and calls that remove, in chunks.
func (r Rule) calls(want stack.Spec, changes []plan.Change) []call {
	var out []call
	for _, ch := range changes {
		if set, ok := r.Sets[ch.Field]; ok {
			out = append(out, setCalls(set, want, ch)...)
			continue
		}
		part := r.Parts[ch.Field]
		if i := slices.IndexFunc(out, func(c call) bool { return c.part == part }); i >= 0 {
			out[i].changes = append(out[i].changes, ch)
			continue
		}
		out = append(out, call{part: part, changes: []plan.Change{ch}})
	}
	return out
}

// The parts of a set field's steps end in these signs.
const (
	adds    = "+"
	removes = "-"
)

func setCalls(set Set, want stack.Spec, ch plan.Change) []call {
	if set.Whole {
		return []call{{part: strings.ToLower(ch.Field), changes: []plan.Change{ch}}}
	}
	var out []call
	added, removed := set.classes(want, ch.Added), set.classes(want, ch.Removed)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		for i, members := range splitChunks(added[name], set.Chunk) {
			part := plan.Change{Field: ch.Field, From: ch.From, To: ch.To, Added: members}
			out = append(out, call{part: partName(cmp.Or(name, ch.Field), adds, i), changes: []plan.Change{part}})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(removed)) {
		for i, members := range splitChunks(removed[name], set.Chunk) {
			part := plan.Change{Field: ch.Field, From: ch.From, To: ch.To, Removed: members}
			out = append(out, call{part: partName(cmp.Or(name, ch.Field), removes, i), changes: []plan.Change{part}})
		}
	}
	return out
}

// classes returns members by their class.
func (s Set) classes(want stack.Spec, members []any) map[string][]any {
	if s.Class == nil {
		return map[string][]any{"": members}
	}
	out := map[string][]any{}
	for _, m := range members {
		name := s.Class(want, m)
		out[name] = append(out[name], m)
	}
	return out
}

// partName is the field in lower case with its sign, and a number from the
// second chunk on.
func partName(field, sign string, chunk int) string {
	name := strings.ToLower(field) + sign
	if chunk > 0 {
		name = fmt.Sprintf("%s%d", name, chunk+1)
	}
	return name
}

func splitChunks(in []any, size int) [][]any {
	if len(in) == 0 {
		return nil
	}
	if size <= 0 {
		return [][]any{in}
	}
	return slices.Collect(slices.Chunk(in, size))
}

func (r Rule) defaultOf(want stack.Resource) stack.Spec {
	if r.Within.Default != nil {
		return r.Within.Default(want)
	}
	return reflect.Zero(reflect.TypeOf(want.Spec)).Interface()
}

func (r Rule) batch(res stack.Resource, a plan.Action, part string) string {
	if r.Batch == nil {
		return ""
	}
	return r.Batch(res, a, part)
}

// impactOf is the worst impact of the changed fields.
func (r Rule) impactOf(changes []plan.Change) plan.Impact {
	worst := plan.NoImpact
	for _, ch := range changes {
		switch r.Impact[ch.Field] {
		case plan.Interrupts:
			return plan.Interrupts
		case plan.Brief:
			worst = plan.Brief
		case plan.NoImpact:
		}
	}
	return worst
}

func ownerNames(owners []stack.Owner) string {
	const shown = 3
	list := make([]string, 0, shown)
	for _, o := range owners[:min(shown, len(owners))] {
		list = append(list, o.String())
	}
	text := strings.Join(list, ", ")
	if more := len(owners) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
