package engine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// picky refuses a call in which anything bad is, and says what.
type picky struct{ calls int }

func (p *picky) apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	p.calls++
	for _, s := range b.Steps {
		if strings.HasPrefix(s.ID.Key.Name, "bad") {
			out := make([]plan.Outcome, len(b.Steps))
			for i := range out {
				out[i] = plan.Failed(fault.New(fault.Invalid, "%s of tenant %s is not allowed", s.ID.Key.Name, s.ID.Owner.Name))
			}
			return out
		}
	}
	return applyEach(doneOutcome)(ctx, b)
}

// batchSteps returns n steps of as many owners in one batch, b of them rejected.
func batchSteps(b, n int) []plan.Step {
	var out []plan.Step
	for i := range n {
		name := "good"
		if b > 0 && i%(n/b) == 0 && i/(n/b) < b {
			name = "bad"
		}
		out = append(out, inBatch("shared", createStep(testOwner(i), fmt.Sprint(name, i))))
	}
	return out
}

// TestRefusalsConcernRejected: if a batch is refused because of b of n owners, all
// others are served after at most b*log2(n)+O(b) calls, spread over runs. No other
// owner is refused meanwhile, and none reads a message about another one.
func TestRefusalsConcernRejected(t *testing.T) {
	for _, tc := range []struct{ bad, of int }{{1, 51}, {4, 54}, {8, 58}, {16, 66}, {50, 100}} {
		t.Run(fmt.Sprintf("%d of %d", tc.bad, tc.of), func(t *testing.T) {
			cloud := &picky{}
			e := New(cloud.apply, nil, Options{PerOwner: tc.of})
			left := batchSteps(tc.bad, tc.of)
			for round := 0; len(left) > 0; round++ {
				if round > tc.bad+tc.of {
					t.Fatalf("%d steps are never decided", len(left))
				}
				r := e.Run(t.Context(), planOf(left...), nil, nil)
				left = nil
				for _, res := range r.Results {
					name := res.Step.ID.Key.Name
					switch {
					case res.State == Waiting:
						left = append(left, res.Step)
						if strings.Contains(res.Outcome.Err.Error(), "tenant") || res.Outcome.Wait <= 0 {
							t.Errorf("%s: waits %s for %q", name, res.Outcome.Wait, res.Outcome.Err)
						}
					case strings.HasPrefix(name, "good") && res.State != Done:
						t.Errorf("%s: %s: %v", name, res.State, res.Outcome.Err)
					case strings.HasPrefix(name, "bad"):
						want := fmt.Sprintf("create thing/%s: %s of tenant %s is not allowed", name, name, res.Step.ID.Owner.Name)
						if res.State != Failed || res.Outcome.Err.Error() != want {
							t.Errorf("%s: %s: %v", name, res.State, res.Outcome.Err)
						}
					}
				}
			}
			if most := float64(tc.bad)*math.Log2(float64(tc.of)) + 8*float64(tc.bad) + 8; float64(cloud.calls) > most {
				t.Errorf("%d calls, want at most %.0f", cloud.calls, most)
			}
		})
	}
}

// TestLeftOutBesideRefused: steps that do not get into the call, each for something of its
// own, do not hide that the others were refused together for one of them.
func TestLeftOutBesideRefused(t *testing.T) {
	for _, own := range []fault.Meaning{fault.InUse, fault.Pending, fault.Conflict, fault.Invalid} {
		cloud := &picky{}
		apply := func(ctx context.Context, b plan.Batch) []plan.Outcome {
			out := make([]plan.Outcome, len(b.Steps))
			rest := b
			rest.Steps = nil
			var at []int
			for i, s := range b.Steps {
				if strings.HasPrefix(s.ID.Key.Name, "held") {
					out[i] = plan.Failed(fault.New(own, "%s waits for its own", s.ID.Key.Name))
					continue
				}
				rest.Steps, at = append(rest.Steps, s), append(at, i)
			}
			if len(at) == 0 {
				return out
			}
			answers := cloud.apply(ctx, rest)
			for i, o := range answers {
				if out[at[i]] = o; o.Err != nil {
					out[at[i]] = answers[0] // the cloud said it once
				}
			}
			return out
		}
		e := New(apply, nil, Options{PerOwner: 100})
		left := append(batchSteps(2, 20), inBatch("shared", createStep(testOwner(30), "held1")), inBatch("shared", createStep(testOwner(31), "held2")))
		for range 4 {
			r := e.Run(t.Context(), planOf(left...), nil, nil)
			left = nil
			for _, res := range r.Results {
				name := res.Step.ID.Key.Name
				switch held := strings.HasPrefix(name, "held"); {
				case held && !strings.HasPrefix(res.Outcome.Err.Error(), "create thing/"+name+": "+name):
					if !fault.Is(res.Outcome.Err, fault.Pending) || strings.Contains(res.Outcome.Err.Error(), "tenant") {
						t.Errorf("%s: %s: %v", own, name, res.Outcome.Err)
					}
				case res.State == Waiting && !held:
					left = append(left, res.Step)
				case strings.HasPrefix(name, "good") && res.State != Done, strings.HasPrefix(name, "bad") && res.State != Failed:
					t.Errorf("%s: %s: %s: %v", own, name, res.State, res.Outcome.Err)
				}
			}
			if len(left) == 0 {
				break
			}
		}
		if len(left) > 0 || cloud.calls > 20 {
			t.Errorf("%s: %d are not decided after %d calls", own, len(left), cloud.calls)
		}
	}
}

// TestRefusedBeforeGoesAlone: beside a step that was refused before, others are
// served by one call; when its content changes, it is with them.
func TestRefusedBeforeGoesAlone(t *testing.T) {
	cloud := &picky{}
	e := New(cloud.apply, nil, Options{PerOwner: 100})
	bad := inBatch("shared", createStep(testOwner(0), "bad"))
	e.Run(t.Context(), planOf(bad), nil, nil)
	cloud.calls = 0
	r := e.Run(t.Context(), planOf(append(batchSteps(0, 20), bad)...), nil, nil)
	if got := stepStates(r); cloud.calls != 2 || got["bad"] != Failed || got["good7"] != Done {
		t.Errorf("%d calls: %v", cloud.calls, got)
	}
	cloud.calls = 0
	bad.Target.Spec, bad.ID.Key.Name = thing{Name: "mended"}, "mended"
	if r := e.Run(t.Context(), planOf(append(batchSteps(0, 20), bad)...), nil, nil); cloud.calls != 1 || !r.Clean() {
		t.Errorf("%d calls, %v", cloud.calls, r.Err())
	}
}

// TestUndecidedMembers: a member that was left out for the moment is no failure, and
// is retried soon; permanent refusals are reported after ones that may be resolved.
func TestUndecidedMembers(t *testing.T) {
	refused := []plan.Refusal{{Member: "i-1", Err: fault.New(fault.Invalid, "gone")}, {Member: "i-2", Err: fault.Undecided()}}
	apply := applyEach(func(s plan.Step) plan.Outcome {
		if s.ID.Key.Name == "down" {
			return plan.Failed(fault.New(fault.Unavailable, "later"))
		}
		o := doneOutcome(s)
		o.Refused = refused
		return o
	})
	r := New(apply, nil, Options{}).Run(t.Context(), planOf(createStep(testOwner(1), "members")), nil, nil)
	wait, waits := r.Wait()
	if !waits || wait <= 0 || r.Clean() || !fault.Is(r.Err(), fault.Invalid) || strings.Contains(r.Err().Error(), "i-2") {
		t.Errorf("wait %s %v, clean %v, error %v", wait, waits, r.Clean(), r.Err())
	}
	r = New(apply, nil, Options{}).Run(t.Context(), planOf(createStep(testOwner(1), "members"), createStep(testOwner(1), "down")), nil, nil)
	if !fault.Is(r.Err(), fault.Unavailable) || !strings.Contains(r.Err().Error(), "i-1") {
		t.Errorf("error %v", r.Err())
	}
}
