package reconcile_test

import (
	"testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// TestDrift: what another controller left otherwise may wait; what is missing,
// and what interrupts, is never called drift.
func TestDrift(t *testing.T) {
	step := func(a plan.Action, i plan.Impact, changes ...plan.Change) plan.Step {
		return plan.Step{ID: plan.StepID{Action: a}, Impact: i, Reason: plan.Changed, Changes: changes}
	}
	initial := step(plan.Update, plan.NoImpact)
	initial.Reason = plan.Initial
	for name, c := range map[string]struct {
		step plan.Step
		want bool
	}{
		"a field differs":             {step(plan.Update, plan.NoImpact, plan.Change{Field: "Interval", From: 5, To: 6}), true},
		"a member is too many":        {step(plan.Update, plan.NoImpact, plan.Change{Field: "Targets", Removed: []any{"i-1"}}), true},
		"a member is missing":         {step(plan.Update, plan.NoImpact, plan.Change{Field: "Targets", Added: []any{"i-1"}}), false},
		"a rule is too many":          {step(plan.Delete, plan.NoImpact), true},
		"a rule is missing":           {step(plan.Create, plan.NoImpact), false},
		"a change that is brief":      {step(plan.Update, plan.Brief), true},
		"a change that interrupts":    {step(plan.Update, plan.Interrupts), false},
		"a deletion that interrupts":  {step(plan.Delete, plan.Interrupts), false},
		"only a claim ends":           {step(plan.Forget, plan.NoImpact), false},
		"a new thing is not finished": {initial, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reconcile.Drift(c.step); got != c.want {
				t.Errorf("want %t, got %t", c.want, got)
			}
		})
	}
}
