package engine

import (
	"context"
	"slices"
	"strings"
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
