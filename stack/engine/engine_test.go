package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

type thing struct {
	Name string
	To   stack.Ref
}

func testOwner(i int) stack.Owner {
	return stack.Owner{Namespace: "ns", Name: fmt.Sprint(i), UID: fmt.Sprint(i)}
}

func testKey(name string) stack.Key { return stack.Key{Kind: "thing", Name: name} }

// createStep returns a creation that needs others of the same owner.
func createStep(o stack.Owner, name string, needs ...string) plan.Step {
	s := plan.Step{
		ID:     plan.StepID{Owner: o, Key: testKey(name), Action: plan.Create},
		Target: stack.Resource{Key: testKey(name), Spec: thing{Name: name}}, Reason: plan.Missing,
	}
	for _, n := range needs {
		s.Needs = append(s.Needs, plan.StepID{Owner: o, Key: testKey(n), Action: plan.Create})
	}
	return s
}

func inBatch(batch string, s plan.Step) plan.Step {
	s.Batch = batch
	return s
}

func planOf(steps ...plan.Step) plan.Plan { return plan.Plan{Owner: steps[0].ID.Owner, Steps: steps} }

// applyEach answers every step of a batch on its own.
func applyEach(f func(plan.Step) plan.Outcome) Apply {
	return func(_ context.Context, b plan.Batch) []plan.Outcome {
		out := make([]plan.Outcome, len(b.Steps))
		for i, s := range b.Steps {
			out[i] = f(s)
		}
		return out
	}
}

func doneOutcome(s plan.Step) plan.Outcome {
	after := s.Target
	after.ID = "id-" + s.ID.Key.Name
	return plan.Done(after)
}

// applyWithFaults fails the named steps and performs the others.
func applyWithFaults(faults map[string]plan.Outcome) Apply {
	return applyEach(func(s plan.Step) plan.Outcome {
		if o, bad := faults[s.ID.Key.Name]; bad {
			return o
		}
		return doneOutcome(s)
	})
}

func stepStates(r Report) map[string]State {
	out := map[string]State{}
	for _, res := range r.Results {
		out[res.Step.ID.Key.Name] = res.State
	}
	return out
}

func failedOutcome(m fault.Meaning) plan.Outcome { return plan.Failed(fault.New(m, "no")) }

func TestStates(t *testing.T) {
	o := testOwner(1)
	pending := plan.Failed(&fault.Fault{Meaning: fault.Pending, After: 7 * time.Second})
	for name, tc := range map[string]struct {
		steps  []plan.Step
		faults map[string]plan.Outcome
		want   map[string]State
		wait   time.Duration
		waits  bool
		stale  bool
	}{
		"all done": {
			steps: []plan.Step{createStep(o, "a"), createStep(o, "b", "a")}, want: map[string]State{"a": Done, "b": Done},
		},
		"a failure skips only what needs it": {
			steps:  []plan.Step{createStep(o, "a"), createStep(o, "b", "a"), createStep(o, "c", "b"), createStep(o, "d")},
			faults: map[string]plan.Outcome{"a": failedOutcome(fault.Invalid)},
			want:   map[string]State{"a": Failed, "b": Skipped, "c": Skipped, "d": Done},
		},
		"behind a wait all wait": {
			steps:  []plan.Step{createStep(o, "a"), createStep(o, "b", "a"), createStep(o, "c")},
			faults: map[string]plan.Outcome{"a": pending},
			want:   map[string]State{"a": Waiting, "b": Waiting, "c": Done}, wait: 7 * time.Second, waits: true,
		},
		"accepted but not finished": {
			steps:  []plan.Step{createStep(o, "a"), createStep(o, "b", "a")},
			faults: map[string]plan.Outcome{"a": {Wait: 3 * time.Second, Sent: plan.WasSent}},
			want:   map[string]State{"a": Waiting, "b": Waiting}, wait: 3 * time.Second, waits: true, stale: true,
		},
		"in use is a wait, with the caller's back-off": {
			steps: []plan.Step{createStep(o, "a")}, faults: map[string]plan.Outcome{"a": failedOutcome(fault.InUse)},
			want: map[string]State{"a": Waiting}, waits: true,
		},
		"a lost answer makes stale": {
			steps: []plan.Step{createStep(o, "a")}, faults: map[string]plan.Outcome{"a": {Err: fault.New(fault.Unavailable, "cut"), Sent: plan.MaybeSent}},
			want: map[string]State{"a": Failed}, stale: true,
		},
		"what contradicts us makes stale": {
			steps: []plan.Step{createStep(o, "a")}, faults: map[string]plan.Outcome{"a": failedOutcome(fault.Exists)},
			want: map[string]State{"a": Failed}, stale: true,
		},
		"a clean refusal does not": {
			steps: []plan.Step{createStep(o, "a")}, faults: map[string]plan.Outcome{"a": failedOutcome(fault.Quota)}, want: map[string]State{"a": Failed},
		},
		"a need that is no step is met": {
			steps: []plan.Step{createStep(o, "a", "elsewhere")}, want: map[string]State{"a": Done},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(applyWithFaults(tc.faults), nil, Options{}).Run(t.Context(), planOf(tc.steps...), nil, nil)
			if d := cmp.Diff(tc.want, stepStates(r)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			wait, waits := r.Wait()
			if wait != tc.wait || waits != tc.waits || r.Stale() != tc.stale {
				t.Errorf("wait %v %v, stale %v; want %v %v, %v", wait, waits, r.Stale(), tc.wait, tc.waits, tc.stale)
			}
			anyFailed := false
			for _, s := range tc.want {
				anyFailed = anyFailed || s == Failed
			}
			if (r.Err() != nil) != anyFailed {
				t.Errorf("error %v", r.Err())
			}
		})
	}
}

func TestGates(t *testing.T) {
	o := testOwner(1)
	gated := createStep(o, "a")
	gated.Gate = plan.Gate{After: time.Minute, Since: "test"}
	p := planOf(gated, createStep(o, "b", "a"), createStep(o, "c"))
	for name, tc := range map[string]struct {
		gates Gates
		want  map[string]State
		wait  time.Duration
	}{
		"closed": {func(g plan.Gate) time.Duration { return g.After }, map[string]State{"a": Waiting, "b": Waiting, "c": Done}, time.Minute},
		"open":   {func(plan.Gate) time.Duration { return -1 }, map[string]State{"a": Done, "b": Done, "c": Done}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(applyEach(doneOutcome), nil, Options{}).Run(t.Context(), p, nil, tc.gates)
			if d := cmp.Diff(tc.want, stepStates(r)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if wait, _ := r.Wait(); wait != tc.wait {
				t.Errorf("wait %v, want %v", wait, tc.wait)
			}
			if r.Stale() {
				t.Error("a closed gate says nothing about the cloud")
			}
		})
	}
}

func TestIndependentStepsRunAtTheSameTime(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	met := applyEach(func(s plan.Step) plan.Outcome {
		both.Done()
		both.Wait() // for ever, if they ran one after the other
		return doneOutcome(s)
	})
	r := New(met, nil, Options{}).Run(t.Context(), planOf(createStep(testOwner(1), "a"), createStep(testOwner(1), "b")), nil, nil)
	if !r.Clean() {
		t.Error(r.Err())
	}
}

func TestCancelBetweenSteps(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var steps atomic.Int32
	stop := func(call context.Context, b plan.Batch) []plan.Outcome {
		steps.Add(1)
		cancel()
		if call.Err() != nil {
			t.Error("a call that has begun was cut")
		}
		return []plan.Outcome{doneOutcome(b.Steps[0])}
	}
	r := New(stop, nil, Options{}).Run(ctx, planOf(createStep(testOwner(1), "a"), createStep(testOwner(1), "b", "a")), nil, nil)
	if d := cmp.Diff(map[string]State{"a": Done, "b": Waiting}, stepStates(r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, known := r.Have.Get(testKey("a")); !known || steps.Load() != 1 {
		t.Errorf("what was done is known: %v, calls %d", known, steps.Load())
	}
}

// While one call of a batch is in flight, arriving steps of all owners are collected.
func TestGroupCommit(t *testing.T) { synctest.Test(t, groupCommit) }

func groupCommit(t *testing.T) {
	const owners = 20
	release := make(chan struct{})
	var calls []int
	apply := func(_ context.Context, b plan.Batch) []plan.Outcome {
		calls = append(calls, len(b.Steps)) // one call at a time
		if len(calls) == 1 {
			<-release
		}
		out := make([]plan.Outcome, len(b.Steps))
		for i, s := range b.Steps {
			out[i] = doneOutcome(s)
		}
		return out
	}
	e := New(apply, nil, Options{})
	run := func(i int) {
		if r := e.Run(context.Background(), planOf(inBatch("x", createStep(testOwner(i), "a"))), nil, nil); !r.Clean() {
			t.Error(r.Err())
		}
	}
	go run(0)
	synctest.Wait() // its call is in flight
	for i := 1; i < owners; i++ {
		go run(i)
	}
	synctest.Wait()
	close(release)
	synctest.Wait()
	if d := cmp.Diff([]int{1, owners - 1}, calls); d != "" {
		t.Errorf("steps per call (-want +got):\n%s", d)
	}
	if n := len(e.batcher.queues); n != 0 {
		t.Errorf("%d queues are left", n)
	}
}

func TestReferencesAreOfTheirOwner(t *testing.T) {
	var mu sync.Mutex
	got := map[string]string{}
	apply := func(ctx context.Context, b plan.Batch) []plan.Outcome {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range b.Steps {
			if to := s.Target.Spec.(thing).To; !to.IsZero() {
				got[s.ID.Owner.Name] = b.ID(s, to)
			}
		}
		out := make([]plan.Outcome, len(b.Steps))
		for i, s := range b.Steps {
			out[i] = plan.Done(stack.Resource{ID: s.ID.Owner.Name + "-" + s.ID.Key.Name})
		}
		return out
	}
	e := New(apply, nil, Options{})
	var wg sync.WaitGroup
	for i := range 5 {
		b := inBatch("x", createStep(testOwner(i), "b", "a"))
		b.Target.Spec = thing{To: stack.RefTo(testKey("a"))}
		wg.Go(func() { e.Run(context.Background(), planOf(inBatch("x", createStep(testOwner(i), "a")), b), nil, nil) })
	}
	wg.Wait()
	if d := cmp.Diff(map[string]string{"0": "0-a", "1": "1-a", "2": "2-a", "3": "3-a", "4": "4-a"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestManyOwners(t *testing.T) {
	var calls atomic.Int32
	apply := func(ctx context.Context, b plan.Batch) []plan.Outcome {
		calls.Add(1)
		for _, s := range b.Steps {
			b.ID(s, stack.RefTo(testKey("a")))
		}
		return applyEach(doneOutcome)(ctx, b)
	}
	e := New(apply, nil, Options{})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			o := testOwner(i)
			r := e.Run(context.Background(), planOf(createStep(o, "a"), inBatch("shared", createStep(o, "b", "a")), inBatch("shared", createStep(o, "c")), createStep(o, "d", "b", "c")), nil, nil)
			if !r.Clean() || len(r.Have.Resources) != 4 {
				t.Errorf("%s: %v, have %v", o, r.Err(), r.Have)
			}
		})
	}
	wg.Wait()
	if n := calls.Load(); n > 800 {
		t.Errorf("%d calls for 800 steps", n)
	}
}

func TestTooFewAnswersAreNoSuccess(t *testing.T) {
	none := func(context.Context, plan.Batch) []plan.Outcome { return nil }
	r := New(none, nil, Options{}).Run(t.Context(), planOf(createStep(testOwner(1), "a")), nil, nil)
	if !fault.Is(r.Err(), fault.Internal) || !r.Stale() {
		t.Errorf("error %v, stale %v", r.Err(), r.Stale())
	}
}

// TestYield: steps that arrive while a batch lets others pass are sent with it.
func TestYield(t *testing.T) { synctest.Test(t, sentWithAYield) }

func sentWithAYield(t *testing.T) {
	const owners = 5
	var calls, yields []int
	goes := make(chan struct{})
	e := New(func(ctx context.Context, b plan.Batch) []plan.Outcome {
		calls = append(calls, len(b.Steps))
		return applyEach(doneOutcome)(ctx, b)
	}, nil, Options{Yield: func(_ context.Context, b plan.Batch) {
		yields = append(yields, len(b.Steps))
		<-goes
	}})
	for i := range owners {
		go func() {
			if r := e.Run(context.Background(), planOf(inBatch("x", createStep(testOwner(i), "a"))), nil, nil); !r.Clean() {
				t.Error(r.Err())
			}
		}()
		synctest.Wait() // the first one yields, or another has arrived
	}
	close(goes)
	synctest.Wait()
	if d := cmp.Diff([][]int{{1}, {owners}}, [][]int{yields, calls}); d != "" {
		t.Errorf("steps that yield and steps per call (-want +got):\n%s", d)
	}
}
