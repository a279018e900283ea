package model

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestCases: what each Service wants, what the user sees, what is done, and what the
// Service carries once it is done.
func TestCases(t *testing.T) { suite().Cases(t) }

// TestIdempotent: once everything is created and addresses that held an IP are deleted,
// building again wants the same, and there is nothing to do.
func TestIdempotent(t *testing.T) {
	suite().Idempotent(t, func(t *testing.T, want *stack.Stack) {
		if len(want.Of(KindAddress)) > 0 {
			t.Errorf("an address is still held: %v", want.Of(KindAddress))
		}
	})
}

// onlyReleases: nothing is left to do but to give addresses back that held an IP.
func onlyReleases(p plan.Plan) bool {
	for _, s := range p.Steps {
		if s.ID.Action != plan.Delete || s.ID.Key.Kind != KindAddress {
			return false
		}
	}
	return len(p.Blocked) == 0
}

// TestOrder: the order of nodes, ports and pods means nothing.
func TestOrder(t *testing.T) { suite().Order(t) }

// TestMoves: from whatever one case leaves to whatever another wants there is a
// plan without a circle, and nothing of the first stays.
func TestMoves(t *testing.T) {
	all := slices.DeleteFunc(readCases(t), func(c readCase) bool { return c.World.Deleted })
	for _, from := range all {
		a := from.Run(t)
		if a.Want == nil {
			continue
		}
		have := asFound(a.Want, a.Have)
		for _, to := range all {
			want, more, err := buildStack(to.in, to.World.Facts, have)
			if err != nil {
				t.Fatal(err)
			}
			if want != nil && !to.problems.Errors() && !more.Errors() && from.Service.Name == to.Service.Name {
				suite().Moves(t, from.Name+" to "+to.Name, want, have)
			}
		}
	}
}
