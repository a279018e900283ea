package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// planDeletion returns a plan that deletes an object behind the create of another one, and
// updates it where that is not done.
func planDeletion() (plan.Plan, *stack.Stack) {
	o := testOwner(1)
	old := stack.Resource{Key: testKey("old"), ID: "id-of-old", Proof: stack.Name, Spec: thing{Name: "yesterday"}}
	create := createStep(o, "new")
	update := plan.Step{ID: plan.StepID{Owner: o, Key: testKey("old"), Action: plan.Update}, Target: old, Found: old.Spec}
	update.Target.Spec = thing{Name: "today"}
	update.Changes = []plan.Change{{Field: "Name", From: "yesterday", To: "today"}}
	remove := plan.Step{ID: plan.StepID{Owner: o, Key: testKey("old"), Action: plan.Delete}, Target: old, Waits: plan.Waits{Needs: []plan.StepID{create.ID}}, Remedies: plan.Remedies{Otherwise: []plan.Step{update}}}
	return planOf(create, remove), &stack.Stack{Owner: o, Resources: []stack.Resource{old}}
}

// TestOtherwise: what is not deleted is updated, unless it may have been deleted or an update
// has no better chance.
func TestOtherwise(t *testing.T) {
	refuse := func(m fault.Meaning) *plan.Outcome { o := refuseAs(m); return &o }
	for name, tc := range map[string]struct {
		create, remove *plan.Outcome
		gate           time.Duration
		replaces       bool
		updates        bool
	}{
		"everything is performed":         {},
		"the deletion is refused":         {remove: refuse(fault.Denied), updates: true},
		"what it needs is refused":        {create: refuse(fault.Quota), updates: true},
		"what it needs is not answered":   {create: &plan.Outcome{Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent}, updates: true},
		"the gate is closed":              {gate: time.Minute, updates: true},
		"the deletion is not answered":    {remove: &plan.Outcome{Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent}},
		"it is in use for a while":        {remove: refuse(fault.InUse)},
		"the cloud is overloaded":         {create: refuse(fault.Throttled)},
		"the cloud is down":               {create: refuse(fault.Unavailable)},
		"a new one has the key":           {remove: refuse(fault.Denied), replaces: true},
		"the new one of a key is refused": {create: refuse(fault.Quota), replaces: true, updates: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, have := planDeletion()
			if tc.replaces {
				p.Steps[1].Pair = plan.Pair{Create: p.Steps[0].ID, Delete: p.Steps[1].ID, Order: plan.CreateFirst}
			}
			if tc.gate > 0 {
				p.Steps[1].Gate = plan.Gate{After: tc.gate, Since: "the switch"}
			}
			updated := false
			apply := applyEach(func(s plan.Step) plan.Outcome {
				switch {
				case s.ID.Action == plan.Update:
					updated = true
				case s.ID.Action == plan.Create && tc.create != nil:
					return *tc.create
				case s.ID.Action == plan.Delete && tc.remove != nil:
					return *tc.remove
				}
				return plan.Done(s.Target)
			})
			r := New(apply, nil, Options{}).Run(t.Context(), p, have, func(g plan.Gate) time.Duration { return g.After })
			if updated != tc.updates {
				t.Errorf("updated: %v, want %v", updated, tc.updates)
			}
			reported := slices.ContainsFunc(r.Results, func(res Result) bool { return res.Step.ID.Action == plan.Update && res.State == Done })
			if old, _ := r.Have.Get(testKey("old")); tc.updates && (old.Spec != thing{Name: "today"} || !reported) {
				t.Errorf("known is %v, reported: %v", old.Spec, reported)
			}
		})
	}
}
