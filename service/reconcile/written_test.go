package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

type crew struct{ Nodes []string }

var poolKey = stack.Key{Kind: "pool", Name: "all nodes"}

func poolOf(nodes ...string) stack.Resource {
	return stack.Resource{Key: poolKey, Ownership: stack.Shared, Proof: stack.Name, Spec: crew{Nodes: nodes}}
}

// wrote is the report of a run that has done one step on the pool.
func wrote(action plan.Action, changes ...plan.Change) engine.Report {
	step := plan.Step{ID: plan.StepID{Action: action, Key: poolKey}, Target: poolOf("a", "b"), Changes: changes}
	return engine.Report{Results: []engine.Result{{Step: step, State: engine.Done, Outcome: plan.Done(step.Target)}}}
}

func TestWhatOthersHaveWrittenIsKnown(t *testing.T) {
	read := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	takes := func(node string) engine.Report {
		return wrote(plan.Update, plan.Change{Field: "Nodes", Removed: []any{node}, From: []string{"a", "b", "c"}, To: []string{"a", "b"}})
	}
	brings := func(node string) engine.Report {
		return wrote(plan.Update, plan.Change{Field: "Nodes", Added: []any{node}, From: []string{"a"}, To: []string{"a", node}})
	}
	for name, tc := range map[string]struct {
		reports []engine.Report // a second apart, the first one a second after the read
		read    time.Time
		want    []string
	}{
		"nothing":                                {nil, read, []string{"a", "b", "c"}},
		"a node goes":                            {[]engine.Report{takes("c")}, read, []string{"a", "b"}},
		"a node goes and comes":                  {[]engine.Report{takes("c"), brings("c")}, read, []string{"a", "c", "b"}},
		"it was read after that":                 {[]engine.Report{takes("c")}, read.Add(2 * time.Second), []string{"a", "b", "c"}},
		"what went before the pool was made new": {[]engine.Report{takes("c"), wrote(plan.Create)}, read, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWritten(time.Hour)
			for i, report := range tc.reports {
				w.note(report, read.Add(time.Duration(i+1)*time.Second))
			}
			have := &stack.Stack{Resources: []stack.Resource{poolOf("a", "b", "c")}}
			now, _ := w.upon(have, tc.read).Get(poolKey)
			if diff := cmp.Diff(crew{Nodes: tc.want}, now.Spec); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(poolOf("a", "b", "c"), have.Resources[0]); diff != "" {
				t.Errorf("what was found has changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrittenForgetsWhatNoSnapshotIsAsOldAs(t *testing.T) {
	w := newWritten(time.Minute)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 100 {
		at = at.Add(time.Second)
		w.note(wrote(plan.Update, plan.Change{Field: "Nodes", Removed: []any{"c"}}), at)
	}
	for of, log := range w.log {
		if len(log) > 60 {
			t.Errorf("%v: %d writes are kept, of a minute in which there were 60", of, len(log))
		}
	}
}
