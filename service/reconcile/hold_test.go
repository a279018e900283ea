package reconcile

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestUnseenReferences: an update may continue beside a kind that could not be read, unless it
// removes a reference to a resource of that kind: what it refers to is not known.
func TestUnseenReferences(t *testing.T) {
	pool, seen, unseen := stack.Key{Kind: "pool"}, stack.Key{Kind: "group", Name: "seen"}, stack.Key{Kind: "group", Name: "unseen"}
	have := &stack.Stack{Resources: []stack.Resource{{Key: pool}, {Key: seen}}}
	blind := providers.Blind{}
	blind.Add(fault.New(fault.Denied, "not for us"), "group")
	for name, tc := range map[string]struct {
		change  plan.Change
		blocked bool
	}{
		"another field":            {plan.Change{Field: "Timeout", From: 1, To: 2}, false},
		"a seen one is removed":    {plan.Change{Field: "Groups", Removed: []any{stack.RefTo(seen)}}, false},
		"an unseen one is added":   {plan.Change{Field: "Groups", Added: []any{stack.RefTo(unseen)}}, false},
		"an unseen one is removed": {plan.Change{Field: "Groups", Removed: []any{stack.RefTo(unseen)}}, true},
	} {
		step := plan.Step{ID: plan.StepID{Action: plan.Update, Key: pool}, Changes: []plan.Change{tc.change}}
		if v := holdUnseen(blind, have)(step); v.Blocked != tc.blocked {
			t.Errorf("%s: blocked %v: %s", name, v.Blocked, v.Why)
		}
	}
}
