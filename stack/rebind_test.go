package stack_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

// TestRebind: references are exchanged wherever they are, in a copy.
func TestRebind(t *testing.T) {
	type part struct{ To stack.Ref }
	type spec struct {
		Name   string
		One    stack.Ref
		List   []stack.Ref
		Parts  []part
		Point  *part
		Absent *part
		None   stack.Ref
		Texts  []string
	}
	key := func(name string) stack.Ref { return stack.RefTo(stack.Key{Kind: "k", Name: name}) }
	old := spec{Name: "n", One: key("a"), List: []stack.Ref{key("b"), stack.RefID("x")}, Parts: []part{{key("a")}}, Point: &part{key("b")}, Texts: []string{"t"}}
	copied := old
	copied.List, copied.Parts, copied.Point = []stack.Ref{key("b"), stack.RefID("x")}, []part{{key("a")}}, &part{key("b")}
	got := stack.Rebind(old, func(r stack.Ref) stack.Ref {
		if r.To.Name == "a" {
			return stack.RefID("id-of-a")
		}
		return r
	})
	want := spec{Name: "n", One: stack.RefID("id-of-a"), List: old.List, Parts: []part{{stack.RefID("id-of-a")}}, Point: old.Point, Texts: old.Texts}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(copied, old); d != "" {
		t.Errorf("the given spec was changed (-want +got):\n%s", d)
	}
	if d := cmp.Diff(part{}, stack.Rebind(part{}, nil)); d != "" {
		t.Errorf("without references (-want +got):\n%s", d)
	}
}

// TestRebindReachesEveryRef: no form in which a spec can hold references keeps an old one.
func TestRebindReachesEveryRef(t *testing.T) {
	type part struct{ To stack.Ref }
	type spec struct {
		ByName map[string]stack.Ref
		Nested map[string]part
		Pair   [2]stack.Ref
		Any    any
		Empty  map[string]stack.Ref
		Nil    any
	}
	old := stack.RefID("old")
	in := spec{ByName: map[string]stack.Ref{"a": old}, Nested: map[string]part{"b": {old}}, Pair: [2]stack.Ref{old, old}, Any: part{old}}
	out := stack.Rebind(in, func(stack.Ref) stack.Ref { return stack.RefID("new") })
	for _, ref := range stack.Refs(out) {
		if ref != stack.RefID("new") {
			t.Errorf("%v stays in %+v", ref, out)
		}
	}
	if got, want := len(stack.Refs(out)), len(stack.Refs(in)); got != want {
		t.Errorf("%d references, want %d", got, want)
	}
	if in.ByName["a"] != old || in.Any != any(part{old}) {
		t.Errorf("the original has changed: %+v", in)
	}
}
