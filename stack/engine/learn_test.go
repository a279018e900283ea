package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-multierror"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

type members struct {
	IDs  []string
	Note string
}

func toAnySlice(in ...string) []any {
	var out []any
	for _, s := range in {
		out = append(out, s)
	}
	return out
}

// setStep is one call on the set {a,b,c} that is to become {b,d,e,f}.
func setStep(part string, added, removed []any) plan.Step {
	return plan.Step{
		ID: plan.StepID{Owner: testOwner(1), Key: testKey("set"), Action: plan.Update, Part: part}, Reason: plan.Changed,
		Target:  stack.Resource{Key: testKey("set"), ID: "1", Spec: members{IDs: []string{"b", "d", "e", "f"}}},
		Found:   members{IDs: []string{"a", "b", "c"}},
		Changes: []plan.Change{{Field: "IDs", To: []string{"b", "d", "e", "f"}, Added: added, Removed: removed}},
	}
}

func TestSetsAreLearntInAnyOrder(t *testing.T) {
	steps := []plan.Step{setStep("ids+", toAnySlice("d", "e"), nil), setStep("ids+2", toAnySlice("f"), nil), setStep("ids-", nil, toAnySlice("a", "c"))}
	refusal := map[string]plan.Outcome{
		"ids+":  {Sent: plan.WasSent, Refused: []plan.Refusal{{Member: "e", Err: fault.New(fault.Invalid, "no")}}},
		"ids+2": {Sent: plan.WasSent}, "ids-": {Sent: plan.WasSent},
	}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		have := &stack.Stack{Resources: []stack.Resource{{Key: testKey("set"), ID: "1", Proof: stack.Tag, Spec: members{IDs: []string{"a", "b", "c"}, Note: "kept"}}}}
		for _, i := range order {
			Learn(have, steps[i], refusal[steps[i].ID.Part])
		}
		got, _ := have.Get(testKey("set"))
		want := stack.Resource{Key: testKey("set"), ID: "1", Proof: stack.Tag, Spec: members{IDs: []string{"b", "d", "f"}, Note: "kept"}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("order %v (-want +got):\n%s", order, d)
		}
	}
}

func TestOnlyWrittenFieldsAreLearnt(t *testing.T) {
	s := plan.Step{
		ID:      plan.StepID{Key: testKey("set"), Action: plan.Update, Part: "note"},
		Target:  stack.Resource{Key: testKey("set"), Slot: "new", Spec: members{Note: "wanted", IDs: []string{"not", "written"}}},
		Changes: []plan.Change{{Field: "Note", From: "old", To: "wanted"}},
	}
	have := &stack.Stack{Resources: []stack.Resource{{Key: testKey("set"), ID: "1", Slot: "old", Spec: members{Note: "old", IDs: []string{"a"}}}}}
	Learn(have, s, plan.Done(stack.Resource{Spec: members{Note: "as the cloud spells it"}}))
	want := []stack.Resource{{Key: testKey("set"), ID: "1", Slot: "new", Spec: members{Note: "as the cloud spells it", IDs: []string{"a"}}}}
	if d := cmp.Diff(want, have.Resources); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCreationsAreLearnt(t *testing.T) {
	child, silent := testKey("child"), testKey("silent")
	s := createStep(testOwner(1), "a")
	s.Target.Slot, s.Target.Ownership = "port 80", stack.Shared
	s.With = []stack.Resource{{Key: child, In: testKey("a"), Slot: "x", Spec: thing{Name: "child"}}, {Key: silent, In: testKey("a"), Spec: thing{Name: "silent"}}}
	have := &stack.Stack{}
	Learn(have, s, plan.Outcome{After: stack.Resource{ID: "1"}, Parts: []stack.Resource{{Key: child, ID: "2", Spec: thing{Name: "as found"}}}})
	want := []stack.Resource{
		{Key: testKey("a"), ID: "1", Slot: "port 80", Ownership: stack.Shared, Proof: stack.Derived, Spec: thing{Name: "a"}},
		{Key: child, ID: "2", In: testKey("a"), Slot: "x", Proof: stack.Derived, Spec: thing{Name: "as found"}},
		{Key: silent, In: testKey("a"), Proof: stack.Derived, Spec: thing{Name: "silent"}},
	}
	if d := cmp.Diff(want, have.Resources); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func replacementPlan(createFirst bool) plan.Plan {
	make := createStep(testOwner(1), "a")
	make.Reason = plan.Replaced
	remove := plan.Step{
		ID: plan.StepID{Owner: testOwner(1), Key: testKey("a"), Action: plan.Delete}, Reason: plan.Replaced,
		Target: stack.Resource{Key: testKey("a"), ID: "old"}, Found: thing{},
	}
	make.Pair = plan.Pair{Create: make.ID, Delete: remove.ID, Order: plan.DeleteFirst}
	if createFirst {
		make.Pair.Order = plan.CreateFirst
	}
	remove.Pair = make.Pair
	if createFirst {
		remove.Needs = []plan.StepID{make.ID}
		return planOf(make, remove)
	}
	make.Needs = []plan.StepID{remove.ID}
	return planOf(remove, make)
}

func TestReplacementsAreLearnt(t *testing.T) {
	part := stack.Resource{Key: testKey("part"), In: testKey("a"), ID: "part of the old one"}
	fresh := stack.Resource{Key: testKey("a"), ID: "id-a", Proof: stack.Derived, Spec: thing{Name: "a"}}
	old := stack.Resource{Key: testKey("a"), ID: "old"}
	for name, tc := range map[string]struct {
		createFirst bool
		fail        plan.Action
		want        []stack.Resource
		stale       bool
	}{
		"create first":                      {true, "", []stack.Resource{fresh}, false},
		"delete first":                      {false, "", []stack.Resource{fresh}, false},
		"the old one stays behind":          {true, plan.Delete, []stack.Resource{fresh}, true},
		"the new one never came":            {true, plan.Create, []stack.Resource{old, part}, false},
		"the old one would not go":          {false, plan.Delete, []stack.Resource{old, part}, false},
		"the old one went, no new one came": {false, plan.Create, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			apply := applyEach(func(s plan.Step) plan.Outcome {
				if s.ID.Action == tc.fail {
					return failedOutcome(fault.Denied)
				}
				if s.ID.Action == plan.Delete {
					return plan.Outcome{Sent: plan.WasSent}
				}
				return doneOutcome(s)
			})
			have := &stack.Stack{Resources: []stack.Resource{old, part}}
			r := New(apply, nil, Options{}).Run(t.Context(), replacementPlan(tc.createFirst), have, nil)
			if d := cmp.Diff(tc.want, append([]stack.Resource(nil), r.Have.Resources...)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if r.Stale() != tc.stale {
				t.Errorf("stale %v, want %v", r.Stale(), tc.stale)
			}
			if d := cmp.Diff([]stack.Resource{old, part}, have.Resources); d != "" {
				t.Errorf("what the caller knew was written to (-before +after):\n%s", d)
			}
		})
	}
}

// A set that is too full for the new members loses the old ones first; the new
// ones come with the next run.
func TestQuotaMakesRoom(t *testing.T) {
	add, remove := setStep("ids+", toAnySlice("d", "e", "f"), nil), setStep("ids-", nil, toAnySlice("a", "c"))
	remove.Needs = []plan.StepID{add.ID}
	for name, tc := range map[string]struct {
		fault fault.Meaning
		want  []State
		have  []string
	}{
		"quota":   {fault.Quota, []State{Failed, Done}, []string{"b"}},
		"invalid": {fault.Invalid, []State{Failed, Skipped}, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			apply := func(_ context.Context, b plan.Batch) []plan.Outcome {
				if b.Steps[0].ID == add.ID {
					return []plan.Outcome{failedOutcome(tc.fault)}
				}
				return []plan.Outcome{{Sent: plan.WasSent}}
			}
			have := &stack.Stack{Resources: []stack.Resource{{Key: testKey("set"), ID: "1", Spec: members{IDs: []string{"a", "b", "c"}}}}}
			r := New(apply, nil, Options{}).Run(t.Context(), planOf(add, remove), have, nil)
			if d := cmp.Diff(tc.want, []State{r.Results[0].State, r.Results[1].State}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			got, _ := r.Have.Get(testKey("set"))
			if d := cmp.Diff(tc.have, got.Spec.(members).IDs); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestQuotaKeepsWhatServes: what a switch removes later makes no room for its replacement,
// also where nothing waits for the gate.
func TestQuotaKeepsWhatServes(t *testing.T) {
	for _, part := range []bool{false, true} {
		create, remove := createStep(testOwner(1), "new"), createStep(testOwner(1), "old")
		create.ID.Action, remove.ID.Action = plan.Create, plan.Delete
		create.Target.In, remove.Target.In = testKey("group"), testKey("group")
		remove.Reason, remove.Needs, remove.Gate = plan.Unwanted, []plan.StepID{create.ID}, plan.Gate{After: time.Minute, Since: "test", Part: part}
		apply := func(_ context.Context, b plan.Batch) []plan.Outcome {
			if b.Steps[0].ID == create.ID {
				return []plan.Outcome{failedOutcome(fault.Quota)}
			}
			return []plan.Outcome{{Sent: plan.WasSent}}
		}
		r := New(apply, nil, Options{}).Run(t.Context(), planOf(create, remove), nil, nil)
		if done := r.Results[1].State == Done; done != part {
			t.Errorf("part of a load balancer that stays: %t, deleted: %t", part, done)
		}
	}
}

// TestManyRefusalsAreOneLine: what refuses thousands of members says so once.
func TestManyRefusalsAreOneLine(t *testing.T) {
	var refused []plan.Refusal
	for n := range 1000 {
		refused = append(refused, plan.Refusal{Member: n, Err: fault.New(fault.Quota, "full")})
	}
	refused = append(refused, plan.Refusal{Member: "x", Err: fault.New(fault.Invalid, "unknown")})
	err := Report{Results: []Result{{Step: setStep("ids+", nil, nil), Outcome: plan.Outcome{Refused: refused}}}}.Err()
	var all *multierror.Error
	if !errors.As(err, &all) || len(all.Errors) != 2 {
		t.Fatalf("want two errors, got %v", err)
	}
	if got, want := all.Errors[0].Error(), "0, 1, 2 and 997 more: full"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end in %q", got, want)
	}
	if !fault.Is(all.Errors[0], fault.Quota) || !fault.Is(all.Errors[1], fault.Invalid) {
		t.Errorf("meanings are lost: %v", all.Errors)
	}
}
