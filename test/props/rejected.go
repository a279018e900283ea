package props

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Shared is one object of a fresh cloud that many Services write.
type Shared struct {
	Engine *engine.Engine
	// Step puts into the object what the n-th Service has in it. A bad one is refused
	// by the cloud, in words that name it.
	Step func(n int, bad bool) plan.Step
	// Mark is in what the cloud says of a bad step, and in no other text.
	Mark string
	// Calls counts those so far that wrote the object, or tried to.
	Calls func() int
}

// RejectedMembers checks that a refusal affects only the rejected members. Of the members that many
// Services add to one object, all acceptable ones are added after at most b*log2(n)+O(b)
// calls, with b rejected ones of n. No other Service is refused meanwhile or gets an event
// about them. From then on each rejected member is sent alone.
func RejectedMembers(t *testing.T, fresh func(t *testing.T) Shared) {
	t.Helper()
	for _, tc := range []struct{ bad, of int }{{1, 51}, {4, 35}, {4, 54}, {8, 58}, {16, 66}} {
		virtual.Run(t, fmt.Sprintf("%d of %d", tc.bad, tc.of), func(t *testing.T) { testRejectedMembers(t, fresh(t), tc.bad, tc.of) })
	}
}

func testRejectedMembers(t *testing.T, s Shared, bad, of int) {
	var left, refused []plan.Step
	culprit := map[string]bool{} // by owner
	for n := range of {
		b := n%(of/bad) == 0 && n/(of/bad) < bad
		step := s.Step(n, b)
		culprit[step.ID.Owner.UID] = b
		left = append(left, step)
	}
	before := s.Calls()
	for round := 0; len(left) > 0; round++ {
		if round > of {
			t.Fatalf("%d steps are never decided", len(left))
		}
		report := s.Engine.Run(t.Context(), plan.Plan{Owner: left[0].ID.Owner, Steps: left}, nil, nil)
		left = nil
		for _, res := range report.Results {
			bad := culprit[res.Step.ID.Owner.UID]
			s.judge(t, res, bad)
			switch {
			case res.State == engine.Waiting:
				left = append(left, res.Step)
			case bad:
				refused = append(refused, res.Step)
			}
		}
	}
	calls := s.Calls() - before
	if most := float64(bad)*math.Log2(float64(of)) + 8*float64(bad) + 8; float64(calls) > most {
		t.Errorf("%d calls, want at most %.0f", calls, most)
	}
	s.beside(t, refused, of)
}

// judge checks what became of one step: it waits without a word of others, or it is refused
// because it is bad, or it is done.
func (s Shared) judge(t *testing.T, res engine.Result, bad bool) {
	t.Helper()
	err := res.Outcome.Err
	marked := err != nil && strings.Contains(err.Error(), s.Mark)
	switch {
	case res.State == engine.Waiting:
		if res.Outcome.Wait <= 0 || marked {
			t.Errorf("%s: waits %s for %q", res.Step.ID, res.Outcome.Wait, err)
		}
	case bad:
		if res.State != engine.Failed || !fault.OfMember(err) || !marked {
			t.Errorf("%s is bad, and %s: %v", res.Step.ID, res.State, err)
		}
	case res.State != engine.Done:
		t.Errorf("%s is good, and %s: %v", res.Step.ID, res.State, err)
	}
}

// beside: one more Service is served at once beside the previously refused ones.
func (s Shared) beside(t *testing.T, refused []plan.Step, n int) {
	t.Helper()
	before := s.Calls()
	more := s.Step(n, false)
	report := s.Engine.Run(t.Context(), plan.Plan{Owner: more.ID.Owner, Steps: append(refused, more)}, nil, nil)
	for _, res := range report.Results {
		if res.Step.ID.Owner == more.ID.Owner && res.State != engine.Done {
			t.Errorf("%s, beside previously refused steps: %s: %v", res.Step.ID, res.State, res.Outcome.Err)
		}
	}
	if calls := s.Calls() - before; calls > len(refused)+1 {
		t.Errorf("%d calls for one more beside %d that were refused before", calls, len(refused))
	}
}
