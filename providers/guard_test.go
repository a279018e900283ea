package providers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestPoisonInARead: of a read for many, only the scope that makes the session panic
// gets a fault; the others are read.
func TestPoisonInARead(t *testing.T) {
	read := guardedRead(func(_ context.Context, scopes []Scope) []Read {
		if slices.ContainsFunc(scopes, func(s Scope) bool { return s.Owner.Name == "poison" }) {
			panic("index out of range")
		}
		out := make([]Read, len(scopes))
		for i, s := range scopes {
			out[i].Have = &stack.Stack{Owner: s.Owner}
		}
		return out
	})
	found := read(t.Context(), []Scope{{Owner: stack.Owner{Name: "a"}}, {Owner: stack.Owner{Name: "poison"}}, {Owner: stack.Owner{Name: "b"}}})
	for i, name := range []string{"a", "", "b"} {
		if name != "" && (found[i].Err != nil || found[i].Have.Owner.Name != name) {
			t.Errorf("%s: %+v", name, found[i])
		}
	}
	defect, ok := errors.AsType[*fault.Defect](found[1].Err)
	if !ok || !fault.Is(found[1].Err, fault.Internal) || !strings.Contains(defect.Stack, "TestPoisonInARead") {
		t.Errorf("the poisoned one: %v", found[1].Err)
	}
	if strings.Contains(found[1].Err.Error(), "index out of range") {
		t.Errorf("users are shown the inside: %v", found[1].Err)
	}
}

// TestPoisonInAWrite: the effect of the write is unknown, so every step of the batch is
// read again before anything else.
func TestPoisonInAWrite(t *testing.T) {
	apply := guardedApply(func(context.Context, plan.Batch) []plan.Outcome { panic(errors.New("nil map")) })
	out := apply(t.Context(), plan.Batch{Steps: make([]plan.Step, 3)})
	if len(out) != 3 {
		t.Fatalf("%d outcomes for 3 steps", len(out))
	}
	for _, o := range out {
		if !fault.Is(o.Err, fault.Ambiguous) {
			t.Errorf("got %v", o.Err)
		}
	}
}
