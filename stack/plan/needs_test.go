package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack/plan"
)

func TestNeeds(t *testing.T) {
	o := newOwner("x")
	named := func(name string) plan.StepID { return stepID(o, plan.Create, newKey("thing", name), "") }
	step := func(name string, needs ...string) plan.Step {
		s := plan.Step{ID: named(name)}
		for _, n := range needs {
			s.Needs = append(s.Needs, named(n))
		}
		return s
	}
	behind := func(s plan.Step, b *plan.Barrier) plan.Step {
		s.Behind = append(s.Behind, b)
		return s
	}
	barrier := &plan.Barrier{Steps: []plan.StepID{named("c"), named("d")}}
	gone := &plan.Barrier{Steps: []plan.StepID{named("not here")}}
	ahead := &plan.Barrier{Steps: []plan.StepID{named("a")}}
	for name, tc := range map[string]struct {
		steps   []plan.Step
		sorted  []int
		circles [][]int
		edges   int
	}{
		"the order of the list where nothing says otherwise": {
			steps: []plan.Step{step("a"), step("b")}, sorted: []int{0, 1},
		},
		"what is needed comes first": {
			steps: []plan.Step{step("a", "c"), step("b"), step("c")}, sorted: []int{1, 2, 0}, edges: 1,
		},
		"needs that are elsewhere do not count": {
			steps: []plan.Step{step("a", "elsewhere"), behind(step("b"), gone)}, sorted: []int{0, 1}, edges: 1,
		},
		"a barrier is passed when all before it are done": {
			steps:  []plan.Step{behind(step("a"), barrier), behind(step("b"), barrier), step("c"), step("d")},
			sorted: []int{2, 3, 0, 1}, edges: 4,
		},
		"a circle, and what is behind it": {
			steps:  []plan.Step{step("a", "b"), step("b", "a"), step("c", "a"), step("d")},
			sorted: []int{3}, circles: [][]int{{0, 1}}, edges: 3,
		},
		"a circle through a barrier": {
			steps:  []plan.Step{step("a", "b"), behind(step("b"), ahead), step("c")},
			sorted: []int{2}, circles: [][]int{{0, 1}}, edges: 3,
		},
		"what needs itself": {
			steps: []plan.Step{step("a", "a"), step("b")}, sorted: []int{1}, circles: [][]int{{0}}, edges: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := plan.NewGraph(tc.steps)
			if d := cmp.Diff(tc.sorted, g.Sorted()); d != "" {
				t.Errorf("sorted (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.circles, g.Circles()); d != "" {
				t.Errorf("circles (-want +got):\n%s", d)
			}
			if g.Edges() != tc.edges {
				t.Errorf("edges: want %d, got %d", tc.edges, g.Edges())
			}
		})
	}
}
