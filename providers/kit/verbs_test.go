package kit_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// shelf is a session that keeps numbers.
type shelf struct {
	in    []int
	bad   []int
	calls int
}

type box struct{ Numbers []int }

func (s *shelf) add(numbers []int) error {
	s.calls++
	for _, n := range numbers {
		if slices.Contains(s.bad, n) {
			return fault.New(fault.Invalid, "a bad number")
		}
	}
	s.in = append(s.in, numbers...)
	return nil
}

func shelfVerbs() kit.Verbs[*shelf] {
	return kit.Verbs[*shelf]{
		{Kind: "box", Action: plan.Create}: kit.With(func(c *kit.Change[*shelf], b box) plan.Outcome {
			if err := c.Session.add(b.Numbers); err != nil {
				return kit.Failed(err)
			}
			return c.Created("box-1", stack.Derived, b)
		}),
		{Kind: "box", Action: plan.Update, Part: "numbers+"}: func(c *kit.Change[*shelf]) plan.Outcome {
			add, _ := plan.Members[int](c.Step)
			return c.Members(kit.Split(add, nil, c.Session.add))
		},
		{Kind: "box", Action: plan.Update, Part: "numbers-"}: func(c *kit.Change[*shelf]) plan.Outcome {
			return c.Removed(nil, fault.New(fault.NotFound, "no box"))
		},
	}
}

func boxStep(action plan.Action, part string, spec stack.Spec, change ...plan.Change) plan.Step {
	key := stack.Key{Kind: "box", Name: "a"}
	return plan.Step{ID: plan.StepID{Key: key, Action: action, Part: part}, Target: stack.Resource{Key: key, ID: "box-1", Spec: spec}, Changes: change}
}

// TestVerbs: the table leads each step to its call, whatever the number of its chunk.
func TestVerbs(t *testing.T) {
	numbers := make([]int, 250)
	for i := range numbers {
		numbers[i] = i
	}
	added := plan.Change{Field: "Numbers", To: numbers, Added: toAnySlice(numbers)}
	for name, tc := range map[string]struct {
		step    plan.Step
		bad     []int
		fails   fault.Meaning
		err     bool
		calls   int
		refused []any
	}{
		"create":                   {step: boxStep(plan.Create, "", box{[]int{1, 2}}), calls: 1},
		"create, refused":          {step: boxStep(plan.Create, "", box{[]int{1, 2}}), bad: []int{2}, err: true, fails: fault.Invalid, calls: 1},
		"content of another type":  {step: boxStep(plan.Create, "", "text"), err: true, fails: fault.Internal},
		"no such verb":             {step: boxStep(plan.Delete, "", box{}), err: true, fails: fault.Internal},
		"a chunk of members":       {step: boxStep(plan.Update, "numbers+3", box{numbers}, added), calls: 1},
		"one bad member is found":  {step: boxStep(plan.Update, "numbers+", box{numbers}, added), bad: []int{7}, calls: 16, refused: []any{7}},
		"what is gone has nothing": {step: boxStep(plan.Update, "numbers-", box{}, plan.Change{Field: "Numbers", To: []int{}, Removed: toAnySlice(numbers)})},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{bad: tc.bad}
			out := shelfVerbs().Apply(t.Context(), s, plan.Batch{Steps: []plan.Step{tc.step}})
			if len(out) != 1 {
				t.Fatalf("%d outcomes", len(out))
			}
			if (out[0].Err != nil) != tc.err || tc.err && fault.Of(out[0].Err) != tc.fails {
				t.Errorf("got %v", out[0].Err)
			}
			var refused []any
			for _, r := range out[0].Refused {
				refused = append(refused, r.Member)
			}
			if d := cmp.Diff(tc.refused, refused); d != "" || tc.calls > 0 && s.calls > tc.calls {
				t.Errorf("%d calls; refused (-want +got):\n%s", s.calls, d)
			}
		})
	}
}

func toAnySlice(of []int) []any {
	out := make([]any, len(of))
	for i, n := range of {
		out[i] = n
	}
	return out
}

// TestMerge: a write after a conflicting one is repeated on a new read, up to a limit.
func TestMerge(t *testing.T) {
	conflict := fault.New(fault.Conflict, "changed")
	for conflicts, want := range map[int]int{0: 1, 2: 3, 9: 4} {
		tries := 0
		err := kit.Merge(3, func() error {
			if tries++; tries <= conflicts {
				return conflict
			}
			return nil
		})
		if tries != want || (err != nil) != (conflicts > 3) {
			t.Errorf("%d conflicts: %d tries, %v; want %d", conflicts, tries, err, want)
		}
	}
}
