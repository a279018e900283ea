package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack/plan"
)

// slow is a cloud that takes one change of a load balancer after the other: it
// accepts a write and has done it ten seconds later, and refuses others until then.
type slow struct {
	t     *testing.T
	mu    sync.Mutex
	busy  map[string]bool
	order []string // of writes, by owner and name
}

const operation = 10 * time.Second

// write is accepted at once and done later, which the channel tells.
func (c *slow) write(s plan.Step) (ready <-chan struct{}) {
	c.mark(s, true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(operation)
		c.mark(s, false)
	}()
	return done
}

func (c *slow) mark(s plan.Step, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, lb := range s.Locks {
		if busy && c.busy[lb] {
			c.t.Errorf("%s of %s: written while %s is PENDING", s.ID, s.ID.Owner, lb)
		}
		c.busy[lb] = busy
	}
	if busy {
		c.order = append(c.order, s.ID.Owner.Name+"/"+s.ID.Key.Name)
	}
}

// apply waits until the cloud is no longer busy, as providers do.
func (c *slow) apply(_ context.Context, b plan.Batch) []plan.Outcome {
	var out []plan.Outcome
	for _, s := range b.Steps {
		<-c.write(s)
		out = append(out, doneOutcome(s))
	}
	return out
}

func withLocks(s plan.Step, locks ...string) plan.Step {
	s.Locks = locks
	return s
}

// runPlans runs a plan for each owner at the same time and returns how long that took.
func runPlans(t *testing.T, e *Engine, contexts func(int) context.Context, plans ...plan.Plan) time.Duration {
	t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for i, p := range plans {
		all.Go(func() {
			if r := e.Run(contexts(i), p, nil, nil); !r.Clean() {
				t.Errorf("%s: %v", p.Owner, r.Err())
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

func anyTurn(t *testing.T) func(int) context.Context {
	return func(int) context.Context { return t.Context() }
}

// TestSlowCloud: a hundred Services whose load balancers take ten seconds for every
// change are served in the time of one of them. A Service's own changes run one after
// the other, even without an order between them.
func TestSlowCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &slow{t: t, busy: map[string]bool{}}
		e := New(cloud.apply, nil, Options{})
		var plans []plan.Plan
		for i := range 100 {
			o, lb := testOwner(i), fmt.Sprint("lb-", i)
			plans = append(plans, planOf(
				withLocks(createStep(o, "lb"), lb),
				withLocks(createStep(o, "listener-1", "lb"), lb), withLocks(createStep(o, "listener-2", "lb"), lb), withLocks(createStep(o, "pool", "listener-1"), lb)))
		}
		if took := runPlans(t, e, anyTurn(t), plans...); took != 4*operation {
			t.Errorf("took %s, want %s", took, 4*operation)
		}
	})
}

// TestSharedLoadBalancer: steps of several Services and kinds, also of several
// batches, never write to one load balancer at the same time.
func TestSharedLoadBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &slow{t: t, busy: map[string]bool{}}
		e := New(cloud.apply, nil, Options{})
		var plans []plan.Plan
		for i := range 20 {
			s := withLocks(createStep(testOwner(i), "listener"), "shared")
			if i%2 == 0 {
				s.Batch = fmt.Sprint("batch-", i%4)
			}
			plans = append(plans, planOf(s))
		}
		if took := runPlans(t, e, anyTurn(t), plans...); took != 20*operation {
			t.Errorf("took %s, want %s", took, 20*operation)
		}
		synctest.Wait()
		e.batcher.locks.mu.Lock()
		defer e.batcher.locks.mu.Unlock()
		if len(e.batcher.locks.waiting) > 0 {
			t.Errorf("locks are left: %v", e.batcher.locks.waiting)
		}
	})
}

// TestLocksInAnyOrder: steps that name two locks in different orders do not wait for
// each other for ever, and a batch has the locks of all its steps.
func TestLocksInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &slow{t: t, busy: map[string]bool{}}
		e := New(cloud.apply, nil, Options{})
		var plans []plan.Plan
		for i := range 10 {
			names := []string{"a", "b", "c"}
			slices.Reverse(names[i%2 : 2+i%2])
			plans = append(plans, planOf(withLocks(createStep(testOwner(i), "x"), names[:2]...), inBatch("both", withLocks(createStep(testOwner(i), "y"), names[2]))))
		}
		runPlans(t, e, anyTurn(t), plans...)
	})
}

type urgency struct{}

// TestLocksGoByTurn: waiting steps get a lock in the order of the runs, not in the order
// of arrival.
func TestLocksGoByTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &slow{t: t, busy: map[string]bool{}}
		of := func(ctx context.Context) int { n, _ := ctx.Value(urgency{}).(int); return n }
		e := New(cloud.apply, nil, Options{Before: func(a, b context.Context) bool { return of(a) < of(b) }})
		var all sync.WaitGroup
		for _, turn := range []int{0, 5, 3, 4, 1, 2} {
			all.Go(func() {
				e.Run(context.WithValue(t.Context(), urgency{}, turn), planOf(withLocks(createStep(testOwner(turn), "x"), "lb")), nil, nil)
			})
			time.Sleep(time.Second) // of the test's own clock: one arrives after the other
		}
		all.Wait()
		if d := cmp.Diff([]string{"0/x", "1/x", "2/x", "3/x", "4/x", "5/x"}, cloud.order); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// TestEndedRunsSendNothing: a step that waits for a lock when its run ends is not
// sent, and waits.
func TestEndedRunsSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &slow{t: t, busy: map[string]bool{}}
		e := New(cloud.apply, nil, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { e.Run(t.Context(), planOf(withLocks(createStep(testOwner(1), "x"), "lb")), nil, nil) })
		synctest.Wait()
		all.Go(func() {
			if r := e.Run(ctx, planOf(withLocks(createStep(testOwner(2), "y"), "lb")), nil, nil); stepStates(r)["y"] != Waiting || r.Stale() {
				t.Errorf("got %v, stale %v", stepStates(r), r.Stale())
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
		if d := cmp.Diff([]string{"1/x"}, cloud.order); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}
