package stack

import (
	"slices"
	"testing"
)

// TestEach: contents of the kind in the order of the stack, without those of other kinds and types. The stack
// may change meanwhile.
func TestEach(t *testing.T) {
	s := &Stack{}
	for i, r := range []Resource{
		{Key: Key{Kind: "word", Name: "b"}, Spec: "second"}, {Key: Key{Kind: "number"}, Spec: 1},
		{Key: Key{Kind: "word", Name: "a"}, Spec: "first"}, {Key: Key{Kind: "word", Name: "c"}, Spec: 7},
	} {
		if s.Put(r); len(s.Resources) != i+1 {
			t.Fatal(s.Resources)
		}
	}
	var got []string
	for r, word := range Each[string](s, "word") {
		got = append(got, r.Key.Name+" "+word)
		s.Drop(r.Key)
	}
	if want := []string{"b second", "a first"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for range Each[string](nil, "word") {
		t.Error("an absent stack has contents")
	}
}

// TestSpecOf: the content of a resource, if there is one of the type.
func TestSpecOf(t *testing.T) {
	s := &Stack{}
	s.Put(Resource{Key: Key{Kind: "word"}, Spec: "here"})
	if got, ok := SpecOf[string](s, Key{Kind: "word"}); !ok || got != "here" {
		t.Error(got, ok)
	}
	if got, ok := SpecOf[int](s, Key{Kind: "word"}); ok || got != 0 {
		t.Error(got, ok)
	}
	if got, ok := SpecOf[string](nil, Key{Kind: "word"}); ok || got != "" {
		t.Error(got, ok)
	}
}
