package kit_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
)

// TestAnswer: a look-up of several Services is sent once, and its failure affects only
// these Services.
func TestAnswer(t *testing.T) {
	look := func(value string) providers.Lookup { return providers.Lookup{Kind: "thing", Value: value} }
	scopes := []providers.Scope{
		{Facts: []providers.Lookup{look("a"), look("b")}},
		{Facts: []providers.Lookup{look("b"), look("broken"), look("none")}},
		{},
	}
	broken := errors.New("broken")
	var calls atomic.Int32
	var facts []string
	unanswered := kit.Answer(scopes, func(l providers.Lookup) (func(), error) {
		calls.Add(1)
		switch l.Value {
		case "broken":
			return func() { t.Error("what failed is entered") }, broken
		case "none":
			return nil, nil
		}
		return func() { facts = append(facts, l.Value) }, nil
	})
	if slices.Sort(facts); calls.Load() != 4 || !slices.Equal(facts, []string{"a", "b"}) {
		t.Errorf("%d calls, facts %v", calls.Load(), facts)
	}
	for i, want := range []error{nil, broken, nil} {
		if got := unanswered.Of(scopes[i]); !errors.Is(got, want) {
			t.Errorf("scope %d: %v, want %v", i, got, want)
		}
	}
}
