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

// planCompletion returns a replacement that is of no use without a further step, an update of
// the door. The pool, which only the old resource needs, is deleted after that.
func planCompletion() (plan.Plan, *stack.Stack) {
	p, have := planReplacement()
	door := createStep(testOwner(1), "door", "rule")
	door.Undoes = []plan.Pair{p.Steps[1].Pair}
	p.Steps[2].Needs = append(p.Steps[2].Needs, door.ID)
	p.Steps = append(p.Steps, door)
	return p, have
}

// TestUndo: a replacement is undone where the cloud refuses what completes it, and nowhere else.
func TestUndo(t *testing.T) {
	before := map[string]string{"rule": "old", "pool": "pool"}
	unfinished := map[string]string{"rule": "new", "pool": "pool"}
	for name, tc := range map[string]struct {
		answers map[string]plan.Outcome
		has     map[string]string
		text    string
	}{
		"performed":           {nil, map[string]string{"rule": "new", "door": "door"}, ""},
		"refused":             {map[string]plan.Outcome{"door": refuseAs(fault.Denied)}, before, "was undone"},
		"refused by a quota":  {map[string]plan.Outcome{"door": refuseAs(fault.Quota)}, before, "was undone"},
		"refused for a while": {map[string]plan.Outcome{"door": refuseAs(fault.Throttled)}, unfinished, "no"},
		"waiting":             {map[string]plan.Outcome{"door": refuseAs(fault.Pending)}, unfinished, ""},
		"unknown":             {map[string]plan.Outcome{"door": {Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent}}, unfinished, "lost"},
		"the new one refused": {map[string]plan.Outcome{"new": refuseAs(fault.Invalid)}, before, "created again as it was before"},
		"the old one refused too": {
			map[string]plan.Outcome{"door": refuseAs(fault.Denied), "old": refuseAs(fault.Denied)}, map[string]string{"pool": "pool"}, "create thing/rule: no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, have := planCompletion()
			cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: tc.answers}
			r := New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
			if d := cmp.Diff(tc.has, cloud.has); d != "" {
				t.Errorf("the cloud has (-want +got):\n%s", d)
			}
			known, _ := r.Have.Get(testKey("rule"))
			if spec, _ := known.Spec.(thing); spec.Name != tc.has["rule"] {
				t.Errorf("known is %v", known)
			}
			if err := r.Err(); (err == nil) != (tc.text == "") || err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want %q", err, tc.text)
			}
		})
	}
}

// TestUndoSeveral: where one new resource has replaced several, or several one, all new ones are
// deleted before the old ones are created again.
func TestUndoSeveral(t *testing.T) {
	remove := func(name string) plan.Step {
		s := createStep(testOwner(1), name)
		s.ID.Action, s.Reason, s.Target.ID, s.Target.Spec = plan.Delete, plan.Unwanted, name, thing{Name: "old " + name}
		return s
	}
	for name, tc := range map[string]struct{ old, made []string }{
		"one for two": {[]string{"a", "b"}, []string{"x"}},
		"two for one": {[]string{"a"}, []string{"x", "y"}},
		"under a key": {[]string{"a", "b"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, have := plan.Plan{Owner: testOwner(1)}, &stack.Stack{Owner: testOwner(1)}
			cloud, before := &names{has: map[string]string{}, answers: map[string]plan.Outcome{"door": refuseAs(fault.Denied)}}, map[string]string{}
			door := createStep(testOwner(1), "door", tc.made...)
			for _, old := range tc.old {
				s := remove(old)
				have.Put(s.Target)
				cloud.has[old], before[old] = "old "+old, "old "+old
				p.Steps = append(p.Steps, s)
			}
			for _, made := range tc.made {
				s := createStep(testOwner(1), made)
				for i, old := range p.Steps[:len(tc.old)] {
					s.Needs = append(s.Needs, old.ID)
					pair := plan.Pair{Create: s.ID, Delete: old.ID, Order: plan.DeleteFirst, Restore: true}
					p.Steps[i].Pair, s.Pair = pair, pair
					door.Undoes = append(door.Undoes, pair)
				}
				p.Steps = append(p.Steps, s)
			}
			p.Steps = append(p.Steps, door)
			New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
			if d := cmp.Diff(before, cloud.has); d != "" {
				t.Errorf("the cloud has (-want +got):\n%s", d)
			}
		})
	}
}

// TestUndoAtShutdown: a run that is to end still undoes a replacement.
func TestUndoAtShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cloud := &names{has: map[string]string{"rule": "old", "pool": "pool"}, answers: map[string]plan.Outcome{"door": refuseAs(fault.Denied)}}
	cloud.then = func(s plan.Step) {
		if s.ID.Key == testKey("door") {
			cancel()
		}
	}
	p, have := planCompletion()
	r := New(cloud.apply, nil, Options{}).Run(ctx, p, have, nil)
	if cloud.has["rule"] != "old" {
		t.Errorf("left: %v", cloud.has)
	}
	if !slices.ContainsFunc(r.Results, func(res Result) bool { return len(r.Undone(res)) == 1 }) {
		t.Errorf("not reported: %v", r.Results)
	}
}

// TestReplacementAtShutdown: a run that is to end completes a replacement whose old resource it has
// deleted, and starts nothing else.
func TestReplacementAtShutdown(t *testing.T) {
	for cut, has := range map[string]map[string]string{
		"delete thing/rule": {"rule": "new", "pool": "new pool"},
		"create thing/rule": {"rule": "new", "pool": "new pool"},
		"create thing/gate": {"rule": "old", "pool": "old pool", "gate": "gate"},
	} {
		t.Run(cut, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, have := planBeneath()
			gate := createStep(testOwner(1), "gate")
			if strings.HasSuffix(cut, "gate") { // before everything else
				p.Steps[0].Needs = append(p.Steps[0].Needs, gate.ID)
				p.Steps = append([]plan.Step{gate}, p.Steps...)
			}
			cloud := &names{has: map[string]string{"rule": "old", "pool": "old pool"}}
			cloud.then = func(s plan.Step) {
				if s.ID.String() == cut {
					cancel()
				}
			}
			r := New(cloud.apply, nil, Options{PerOwner: 1}).Run(ctx, p, have, nil)
			if d := cmp.Diff(has, cloud.has); d != "" {
				t.Errorf("the cloud has (-want +got):\n%s", d)
			}
			if last := r.Results[len(r.Results)-1]; last.Step.ID.Key != testKey("door") || last.State != Waiting {
				t.Errorf("the last step is %s: %v", last.Step.ID, last.State)
			}
		})
	}
}

// planBeneath returns a plan that replaces a resource and what it refers to under their names, and
// then completes the new one. The old one has a part.
func planBeneath() (plan.Plan, *stack.Stack) {
	have := &stack.Stack{Owner: testOwner(1)}
	swap := func(name, old, made string, to stack.Ref, needs ...plan.StepID) (remove, create plan.Step) {
		found := stack.Resource{Key: testKey(name), ID: "id-of-" + old, Proof: stack.Name, Spec: thing{Name: old, To: to}}
		have.Put(found)
		create = createStep(testOwner(1), name)
		create.Target.Spec, create.Reason = thing{Name: made}, plan.Replaced
		remove = plan.Step{ID: create.ID, Target: found, Reason: plan.Replaced, Waits: plan.Waits{Needs: needs}}
		remove.ID.Action = plan.Delete
		create.Pair = plan.Pair{Create: create.ID, Delete: remove.ID, Order: plan.DeleteFirst, Restore: true}
		remove.Pair, create.Needs = create.Pair, []plan.StepID{remove.ID}
		return remove, create
	}
	leave, enter := swap("rule", "old", "new", stack.RefTo(testKey("pool")))
	drain, fill := swap("pool", "old pool", "new pool", stack.Ref{}, leave.ID)
	have.Put(stack.Resource{Key: testKey("part"), In: testKey("rule"), ID: "id-of-part", Proof: stack.Name, Spec: thing{Name: "part"}})
	enter.Needs, enter.Undoes = append(enter.Needs, fill.ID), []plan.Pair{fill.Pair}
	door := createStep(testOwner(1), "door", "rule")
	door.Undoes = []plan.Pair{fill.Pair, enter.Pair}
	return planOf(leave, drain, fill, enter, door), have
}

// TestRestoreInOrder: what a restored resource refers to is restored before it, and its parts
// after it. New resources are deleted in the other order.
func TestRestoreInOrder(t *testing.T) {
	const begun = "delete rule, delete pool, create new pool, "
	for name, tc := range map[string]struct{ refused, calls string }{
		"what it refers to is refused": {"new pool", begun + "create old pool, create old, create part"},
		"it is refused":                {"new", begun + "create new, delete pool, create old pool, create old, create part"},
		"what completes it is refused": {"door", begun + "create new, create door, delete rule, delete pool, create old pool, create old, create part"},
		"what it refers to stays away": {"door, old pool", begun + "create new, create door, delete rule, delete pool, create old pool"},
		"it stays away":                {"new pool, old", begun + "create old pool, create old"},
	} {
		t.Run(name, func(t *testing.T) {
			var calls []string
			cloud := &names{has: map[string]string{}, answers: map[string]plan.Outcome{}}
			for refused := range strings.SplitSeq(tc.refused, ", ") {
				cloud.answers[refused] = refuseAs(fault.Denied)
			}
			cloud.then = func(s plan.Step) {
				what := s.ID.Key.Name
				if spec, _ := s.Target.Spec.(thing); s.ID.Action == plan.Create {
					what = spec.Name
				}
				calls = append(calls, string(s.ID.Action)+" "+what)
			}
			p, have := planBeneath()
			r := New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
			if got := strings.Join(calls, ", "); got != tc.calls {
				t.Errorf("calls:\n got %s\nwant %s", got, tc.calls)
			}
			restored := !strings.Contains(tc.refused, "old")
			for _, was := range have.Resources {
				if now, exists := r.Have.Get(was.Key); restored && (!exists || cmp.Diff(was, now) != "") {
					t.Errorf("%s is not as before: %v", was.Key, now)
				}
			}
			if skipped := slices.ContainsFunc(r.Results, func(res Result) bool { return res.Step.ID.Part == partRestore && res.State == Skipped }); skipped == restored {
				t.Errorf("a restore is skipped: %v", skipped)
			}
		})
	}
}

// TestUndoReverts: where one of two steps that complete a replacement is refused, the other one is
// taken back: the old resource serves with what it had.
func TestUndoReverts(t *testing.T) {
	for name, refused := range map[string]bool{"both are performed": false, "one is refused": true} {
		t.Run(name, func(t *testing.T) {
			p, have := planCompletion()
			pair := p.Steps[1].Pair
			have.Put(stack.Resource{Key: testKey("wall"), ID: "id-of-wall", Proof: stack.Name, Spec: thing{Name: "old wall"}})
			wall := plan.Step{
				ID: plan.StepID{Owner: testOwner(1), Key: testKey("wall"), Action: plan.Update}, Target: stack.Resource{Key: testKey("wall"), ID: "id-of-wall", Proof: stack.Name, Spec: thing{Name: "new wall"}},
				Found: thing{Name: "old wall"}, Changes: []plan.Change{{Field: "Name", From: "old wall", To: "new wall"}}, Waits: plan.Waits{Needs: []plan.StepID{pair.Create}},
			}
			wall.Undoes = []plan.Pair{pair}
			door := &p.Steps[len(p.Steps)-1]
			door.Needs = append(door.Needs, wall.ID)
			p.Steps = append(p.Steps, wall)
			cloud, has := &names{has: map[string]string{"rule": "old", "pool": "pool", "wall": "old wall"}}, map[string]string{"rule": "new", "door": "door", "wall": "new wall"}
			if refused {
				cloud.answers = map[string]plan.Outcome{"door": refuseAs(fault.Denied)}
				has = map[string]string{"rule": "old", "pool": "pool", "wall": "old wall"}
			}
			r := New(cloud.apply, nil, Options{}).Run(t.Context(), p, have, nil)
			if d := cmp.Diff(has, cloud.has); d != "" {
				t.Errorf("the cloud has (-want +got):\n%s", d)
			}
			if known, _ := r.Have.Get(testKey("wall")); cmp.Diff(thing{Name: has["wall"]}, known.Spec) != "" {
				t.Errorf("known is %v", known.Spec)
			}
		})
	}
}

// TestRoomForNothing: where one of several old resources cannot be deleted, the others stay, or are
// created again if their deletion was under way.
func TestRoomForNothing(t *testing.T) {
	for name, atOnce := range map[string]int{"one after the other": 1, "at once": 2} {
		t.Run(name, func(t *testing.T) {
			p, have, left := plan.Plan{Owner: testOwner(1)}, &stack.Stack{Owner: testOwner(1)}, map[string]bool{"a": true, "b": true}
			create := createStep(testOwner(1), "x")
			for old := range left {
				have.Put(stack.Resource{Key: testKey(old), ID: old, Proof: stack.Name, Spec: thing{Name: old}})
			}
			for _, old := range have.Resources {
				s := plan.Step{ID: create.ID, Target: old, Reason: plan.Unwanted}
				s.ID.Action, s.ID.Key = plan.Delete, old.Key
				create.Needs = append(create.Needs, s.ID)
				s.Pair = plan.Pair{Create: create.ID, Delete: s.ID, Order: plan.DeleteFirst, Restore: true}
				create.Pair = s.Pair
				p.Steps = append(p.Steps, s)
			}
			p.Steps = append(p.Steps, create)
			first, deletions := p.Steps[0].ID.Key, 0
			var mu sync.Mutex
			apply := applyEach(func(s plan.Step) plan.Outcome {
				mu.Lock()
				defer mu.Unlock()
				if s.ID.Action == plan.Delete && s.ID.Key == first {
					return refuseAs(fault.Denied)
				}
				if left[s.ID.Key.Name] = s.ID.Action == plan.Create; s.ID.Action == plan.Delete {
					deletions++
				}
				return plan.Done(s.Target)
			})
			New(apply, nil, Options{PerOwner: atOnce}).Run(t.Context(), p, have, nil)
			if !left["a"] || !left["b"] || left["x"] || deletions != atOnce-1 {
				t.Errorf("%d deletions, left: %v", deletions, left)
			}
		})
	}
}
