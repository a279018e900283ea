package stack_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

func newKey(kind, name string) stack.Key { return stack.Key{Kind: stack.Kind(kind), Name: name} }

func keysOf(s *stack.Stack) []string {
	var out []string
	for _, r := range s.Resources {
		out = append(out, r.Key.String())
	}
	return out
}

func TestDrop(t *testing.T) {
	whole := func() *stack.Stack {
		return &stack.Stack{Resources: []stack.Resource{
			{Key: newKey("lb", "")},
			{Key: newKey("listener", "80"), In: newKey("lb", "")},
			{Key: newKey("policy", "80"), In: newKey("listener", "80")},
			{Key: newKey("entry", "a"), In: newKey("lb", ""), Ownership: stack.Shared},
			{Key: newKey("group", "")},
		}}
	}
	for name, tc := range map[string]struct {
		drop stack.Key
		want []string
	}{
		"a leaf":                             {newKey("policy", "80"), []string{"lb", "listener/80", "entry/a", "group"}},
		"parts of parts go, shared ones not": {newKey("lb", ""), []string{"entry/a", "group"}},
		"nothing is In the zero key":         {newKey("none", ""), []string{"lb", "listener/80", "policy/80", "entry/a", "group"}},
		"the zero key itself":                {stack.Key{}, []string{"lb", "listener/80", "policy/80", "entry/a", "group"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := whole()
			s.Drop(tc.drop)
			if diff := cmp.Diff(tc.want, keysOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPutAndClone(t *testing.T) {
	s := &stack.Stack{}
	s.Put(stack.Resource{Key: newKey("b", ""), ID: "1"})
	s.Put(stack.Resource{Key: newKey("a", ""), ID: "2"})
	copied := s.Clone()
	s.Put(stack.Resource{Key: newKey("b", ""), ID: "3"})
	if got, _ := copied.Get(newKey("b", "")); got.ID != "1" {
		t.Errorf("the copy follows the original: id %q", got.ID)
	}
	s.Sort()
	if diff := cmp.Diff([]string{"a", "b"}, keysOf(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (*stack.Stack)(nil).Clone(); got == nil || !got.Empty() {
		t.Errorf("a copy of nothing is %v", got)
	}
}

func TestRefsAreFoundWhereverTheyAre(t *testing.T) {
	type nested struct {
		List []stack.Ref
		Map  map[string]stack.Ref
		Ptr  *stack.Ref
		Any  any
		self stack.Ref // not exported: never compared, never followed
	}
	r := func(name string) stack.Ref { return stack.RefTo(newKey("k", name)) }
	ptr := r("ptr")
	got := stack.Refs(nested{List: []stack.Ref{r("list"), {}}, Map: map[string]stack.Ref{"x": r("map")}, Ptr: &ptr, Any: r("any"), self: r("hidden")})
	var names []string
	for _, ref := range got {
		names = append(names, ref.To.Name)
	}
	if diff := cmp.Diff([]string{"list", "map", "ptr", "any"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWithLeavesTheOriginal(t *testing.T) {
	type spec struct {
		Name  string
		Ports []int
	}
	old := spec{Name: "a", Ports: []int{1}}
	for name, tc := range map[string]struct {
		field string
		value any
		want  stack.Spec
	}{
		"a field":             {"Ports", []int{2}, spec{Name: "a", Ports: []int{2}}},
		"an unknown field":    {"Nope", 1, old},
		"another type":        {"Name", 1, old},
		"nothing as a value":  {"Name", nil, old},
		"the zero of a field": {"Name", "", spec{Ports: []int{1}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, stack.With(old, tc.field, tc.value)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(spec{Name: "a", Ports: []int{1}}, old); diff != "" {
		t.Errorf("the original changed (-want +got):\n%s", diff)
	}
}

func TestValue(t *testing.T) {
	type spec struct {
		Name   string
		hidden int
	}
	of := spec{Name: "a", hidden: 1}
	for name, tc := range map[string]struct {
		spec  stack.Spec
		field string
		want  any
		ok    bool
	}{
		"a field":          {of, "Name", "a", true},
		"an unknown field": {of, "Nope", nil, false},
		"a hidden field":   {of, "hidden", nil, false},
		"no spec":          {nil, "Name", nil, false},
	} {
		if got, ok := stack.Value(tc.spec, tc.field); got != tc.want || ok != tc.ok {
			t.Errorf("%s: got %v, %t", name, got, ok)
		}
	}
}
