package observed

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

type members struct{ Nodes []string }

func poolOf(nodes ...string) stack.Resource {
	return stack.Resource{Key: stack.Key{Kind: "pool", Name: "all nodes"}, Ownership: stack.Shared, Proof: stack.Name, Spec: members{Nodes: nodes}}
}

func addNode(node string, to ...string) plan.Step {
	return stepOf(plan.Update, poolOf(to...), plan.Change{Field: "Nodes", Added: []any{node}, To: to})
}

func removeNode(node string, to ...string) plan.Step {
	return stepOf(plan.Update, poolOf(to...), plan.Change{Field: "Nodes", Removed: []any{node}, To: to})
}

// TestOverlay: members that the process has added and removed since a read are added to and
// removed from its result.
func TestOverlay(t *testing.T) {
	for name, tc := range map[string]struct {
		steps []plan.Step   // a second apart, the first one a second after the start
		read  time.Duration // after the start
		want  []string
	}{
		"nothing":                              {want: []string{"a", "b", "c"}},
		"a node removed":                       {steps: []plan.Step{removeNode("c", "a", "b")}, want: []string{"a", "b"}},
		"a node removed and added":             {steps: []plan.Step{removeNode("c", "a", "b"), addNode("c", "a", "c")}, want: []string{"a", "c", "b"}},
		"a read after the removal":             {steps: []plan.Step{removeNode("c", "a", "b")}, read: 2 * time.Second, want: []string{"a", "b", "c"}},
		"a removal before the pool's creation": {steps: []plan.Step{removeNode("c", "a", "b"), stepOf(plan.Create, poolOf("a", "b"))}, want: []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for _, step := range tc.steps {
				w.pass(time.Second)
				w.perform(step, plan.Done(step.Target))
			}
			have := &stack.Stack{Resources: []stack.Resource{poolOf("a", "b", "c")}}
			now, _ := w.store.Overlay(have, started.Add(tc.read)).Get(poolOf().Key)
			if diff := cmp.Diff(members{Nodes: tc.want}, now.Spec); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(poolOf("a", "b", "c"), have.Resources[0]); diff != "" {
				t.Errorf("the stack itself has changed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOverlayOfRefusedMembers: members that the cloud has refused are not added.
func TestOverlayOfRefusedMembers(t *testing.T) {
	w := newWorld()
	out := plan.Done(poolOf("a", "b", "c"))
	out.Refused = []plan.Refusal{{Member: "c"}}
	w.perform(addNode("c", "a", "b", "c"), out)
	w.perform(addNode("d", "a", "b", "d"), plan.Outcome{Wait: time.Second, Sent: plan.WasSent})
	now, _ := w.store.Overlay(&stack.Stack{Resources: []stack.Resource{poolOf("a", "b")}}, started).Get(poolOf().Key)
	if diff := cmp.Diff(members{Nodes: []string{"a", "b"}}, now.Spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// claims are the other owners of everything.
type claims []stack.Owner

func (c claims) Others(stack.Owner, stack.Resource) []stack.Owner { return c }

func (c claims) Older(stack.Owner, stack.Resource) (stack.Owner, bool) { return stack.Owner{}, false }

func (c claims) Find(func(stack.Owner) bool) (stack.Owner, bool) { return stack.Owner{}, false }

var (
	started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ownerA  = stack.Owner{Namespace: "shop", Name: "a", UID: "a"}
	ownerB  = stack.Owner{Namespace: "shop", Name: "b", UID: "b"}
)

// interval is the time between two reads for drift.
const interval = 10 * time.Minute

func stepOf(action plan.Action, res stack.Resource, changes ...plan.Change) plan.Step {
	return plan.Step{ID: plan.StepID{Owner: ownerA, Action: action, Key: res.Key}, Target: res, Changes: changes}
}

// world is a store with a clock.
type world struct {
	now   time.Time
	store *Store
}

func newWorld() *world {
	w := &world{now: started}
	w.store = New(Options{Now: func() time.Time { return w.now }, Interval: interval})
	return w
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) perform(step plan.Step, o plan.Outcome, others ...stack.Owner) {
	b := plan.Batch{Steps: []plan.Step{step}, Claims: claims(others)}
	w.store.Begin(b)
	w.store.Wrote(b, []plan.Outcome{o})
}
