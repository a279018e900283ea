package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// planReplacement returns a plan that deletes an old resource to create a new one under its name, and
// then deletes a second one that only the old one needs.
func planReplacement() (plan.Plan, *stack.Stack) {
	o := testOwner(1)
	old := stack.Resource{Key: testKey("rule"), ID: "id-of-old", Proof: stack.Name, Slot: "80", Spec: thing{Name: "old", To: stack.RefTo(testKey("pool"))}}
	pool := stack.Resource{Key: testKey("pool"), ID: "id-of-pool", Proof: stack.Name, Spec: thing{Name: "pool"}}
	create := createStep(o, "rule")
	create.Target.Spec = thing{Name: "new"}
	remove := plan.Step{ID: plan.StepID{Owner: o, Key: testKey("rule"), Action: plan.Delete}, Target: old, Reason: plan.Replaced}
	pair := plan.Pair{Create: create.ID, Delete: remove.ID, Order: plan.DeleteFirst, Restore: true}
	create.Reason, create.Pair, remove.Pair = plan.Replaced, pair, pair
	create.Needs = []plan.StepID{remove.ID}
	after := plan.Step{ID: plan.StepID{Owner: o, Key: testKey("pool"), Action: plan.Delete}, Target: pool, Waits: plan.Waits{Needs: []plan.StepID{create.ID}}}
	return planOf(remove, create, after), &stack.Stack{Owner: o, Resources: []stack.Resource{old, pool}}
}

// names is a cloud with one resource of a name, which answers creates by what they create.
type names struct {
	mu      sync.Mutex
	has     map[string]string
	answers map[string]plan.Outcome
	then    func(plan.Step)
}

func (n *names) apply(_ context.Context, b plan.Batch) []plan.Outcome {
	return applyEach(func(s plan.Step) plan.Outcome {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.then != nil {
			defer n.then(s)
		}
		name := s.ID.Key.Name
		if s.ID.Action == plan.Delete {
			delete(n.has, name)
			return plan.Done(s.Target)
		}
		spec, _ := s.Target.Spec.(thing)
		if o, ok := n.answers[spec.Name]; ok {
			return o
		}
		n.has[name] = spec.Name
		after := s.Target
		after.ID = "id-of-" + spec.Name
		return plan.Done(after)
	})(context.Background(), b)
}

func refuseAs(m fault.Meaning) plan.Outcome { return plan.Failed(fault.New(m, "no")) }

// TestRestore: what was deleted for a new form is created again where the cloud refuses
// that permanently, and nowhere else.
func TestRestore(t *testing.T) {
	for name, tc := range map[string]struct {
		answers map[string]plan.Outcome
		has     map[string]string
		text    string
	}{
		"created":             {nil, map[string]string{"rule": "new"}, ""},
		"refused":             {map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}, map[string]string{"rule": "old", "pool": "pool"}, "created again as it was before"},
		"refused by a quota":  {map[string]plan.Outcome{"new": refuseAs(fault.Quota)}, map[string]string{"rule": "old", "pool": "pool"}, "created again as it was before"},
		"unknown":             {map[string]plan.Outcome{"new": {Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent}}, map[string]string{"pool": "pool"}, "lost"},
		"refused for a while": {map[string]plan.Outcome{"new": refuseAs(fault.Throttled)}, map[string]string{"pool": "pool"}, "no"},
		"waiting":             {map[string]plan.Outcome{"new": refuseAs(fault.Pending)}, map[string]string{"pool": "pool"}, ""},
		"the old one refused too": {
			map[string]plan.Outcome{"new": refuseAs(fault.Invalid), "old": refuseAs(fault.Denied)}, map[string]string{"pool": "pool"}, "create thing/rule: no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, have := planReplacement()
			cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: tc.answers}
			r := New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
			if d := cmp.Diff(tc.has, cloud.has); d != "" {
				t.Errorf("the cloud has (-want +got):\n%s", d)
			}
			if tc.has["rule"] == "old" {
				known, _ := r.Have.Get(testKey("rule"))
				if d := cmp.Diff(stack.Resource{Key: testKey("rule"), ID: "id-of-old", Proof: stack.Name, Slot: "80", Spec: thing{Name: "old", To: stack.RefTo(testKey("pool"))}}, known); d != "" {
					t.Errorf("known (-want +got):\n%s", d)
				}
			}
			if err := r.Err(); (err == nil) != (tc.text == "") || err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want %q", err, tc.text)
			}
			if r.Clean() != (tc.answers == nil) {
				t.Errorf("clean: %v", r.Clean())
			}
		})
	}
}

// TestRestoreRefersAsBefore: the old resource refers to what it did, also where a new one
// is under that key by now.
func TestRestoreRefersAsBefore(t *testing.T) {
	p, have := planReplacement()
	fresh := createStep(testOwner(1), "pool")
	fresh.Target.Spec, fresh.Reason = thing{Name: "new pool"}, plan.Replaced
	p.Steps[0].Needs = []plan.StepID{fresh.ID}
	p.Steps = append([]plan.Step{fresh}, p.Steps[:2]...)
	cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}}
	r := New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
	old, _ := r.Have.Get(testKey("rule"))
	if d := cmp.Diff(thing{Name: "old", To: stack.RefID("id-of-pool")}, old.Spec); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// planMissing returns the plan of a later run: neither resource exists.
func planMissing() (plan.Plan, *stack.Stack) {
	p, have := planReplacement()
	create := p.Steps[1]
	create.Needs, create.Pair, create.Reason = nil, plan.Pair{}, plan.Missing
	have.Drop(testKey("rule"))
	return planOf(create), have
}

// TestRestoreInLaterRun: where the result of a create was not known, or it waited, the next run of
// the process restores once that is refused.
func TestRestoreInLaterRun(t *testing.T) {
	for name, first := range map[string]plan.Outcome{
		"unknown": {Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent},
		"waiting": refuseAs(fault.Pending),
	} {
		t.Run(name, func(t *testing.T) {
			cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: map[string]plan.Outcome{"new": first}}
			e := New(cloud.apply, nil, Options{})
			p, have := planReplacement()
			e.Run(t.Context(), p, have, nil)
			if cloud.has["rule"] != "" {
				t.Fatalf("the first run left %v", cloud.has)
			}
			cloud.answers, cloud.then = map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}, nil
			p, have = planMissing()
			e.Run(t.Context(), p, have, nil)
			if cloud.has["rule"] != "old" {
				t.Errorf("the second run left %v", cloud.has)
			}
		})
	}
}

// TestRestoreAtShutdown: a run that is to end still creates the old resource again.
func TestRestoreAtShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}}
	cloud.then = func(s plan.Step) {
		if s.ID.Action == plan.Create {
			cancel()
		}
	}
	p, have := planReplacement()
	New(cloud.apply, nil, Options{}).Run(ctx, p, have, nil)
	if cloud.has["rule"] != "old" {
		t.Errorf("left: %v", cloud.has)
	}
}

// TestLossesEnd: nothing is restored that is not wanted any more, or was created since.
func TestLossesEnd(t *testing.T) {
	for name, between := range map[string]func(*names) plan.Plan{
		"not wanted": func(*names) plan.Plan { return planOf(createStep(testOwner(1), "other")) },
		"created": func(n *names) plan.Plan {
			n.answers = nil
			p, _ := planMissing()
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: map[string]plan.Outcome{"new": refuseAs(fault.Throttled)}}
			e := New(cloud.apply, nil, Options{})
			p, have := planReplacement()
			e.Run(t.Context(), p, have, nil)
			e.Run(t.Context(), between(cloud), have, nil)
			delete(cloud.has, "rule")
			cloud.answers = map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}
			p, have = planMissing()
			r := e.Run(t.Context(), p, have, nil)
			if slices.ContainsFunc(r.Results, func(res Result) bool { return res.Step.ID.Part == partRestore }) {
				t.Errorf("restored: %v", r.Results)
			}
			if len(e.losses.lost)+len(e.losses.owned) > 0 {
				t.Errorf("remembered: %v", e.losses.lost)
			}
		})
	}
}

// TestRestoredFollows: the backends of today are written to a resource that exists again.
func TestRestoredFollows(t *testing.T) {
	p, have := planReplacement()
	update := plan.Step{ID: p.Steps[0].ID, Target: p.Steps[0].Target, Reason: plan.Changed}
	update.ID.Action, update.Target.ID = plan.Update, "id-of-deleted"
	p.Steps[0].Otherwise = []plan.Step{update}
	var updated []string
	cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}}
	cloud.then = func(s plan.Step) {
		if s.ID.Action == plan.Update {
			updated = append(updated, s.Target.ID)
		}
	}
	New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
	if d := cmp.Diff([]string{"id-of-old"}, updated); d != "" {
		t.Errorf("updated (-want +got):\n%s", d)
	}
}
