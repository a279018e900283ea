package service

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/kit"
)

// countWaiting returns how many keys wait.
func countWaiting(q *queue) int {
	depth, _ := q.depth()
	n := 0
	for _, d := range depth {
		n += d
	}
	return n
}

func drainQueue(q *queue) []string {
	var out []string
	for countWaiting(q) > 0 {
		key, _, _ := q.Get()
		out = append(out, key)
		q.Done(key)
	}
	return out
}

func TestQueueOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		fill func(*queue)
		want []string
	}{
		"equals keep their order": {func(q *queue) {
			q.Add("a", byNodes)
			q.Add("b", byNodes)
		}, []string{"a", "b"}},
		"the most urgent first": {func(q *queue) {
			q.Add("drift", byDrift)
			q.Add("nodes", byNodes)
			q.Add("user", byUser)
			q.Add("retry", byRetry)
		}, []string{"user", "retry", "nodes", "drift"}},
		"a more urgent cause moves a key up": {func(q *queue) {
			q.Add("a", byNodes)
			q.Add("b", byNodes)
			q.Add("b", byUser)
		}, []string{"b", "a"}},
		"a less urgent one does not move it down": {func(q *queue) {
			q.Add("a", byUser)
			q.Add("b", byUser)
			q.Add("a", byDrift)
		}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := testQueue()
			defer q.Close()
			tc.fill(q)
			if diff := cmp.Diff(tc.want, drainQueue(q)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUrgencyOfAKeyAtWork(t *testing.T) {
	q := testQueue()
	defer q.Close()
	q.Add("a", byUser)
	q.Add("n", byNodes)
	key, _, _ := q.Get()
	q.Add("a", byNodes) // while it is worked on: the old cause is dealt with
	q.Add("m", byRetry)
	q.Done(key)
	if diff := cmp.Diff([]string{"m", "n", "a"}, drainQueue(q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(q.keys) > 0 {
		t.Errorf("keys are kept that are gone: %v", q.keys)
	}
}

func TestAUserIsNotKeptWaiting(t *testing.T) {
	q := testQueue()
	defer q.Close()
	for i := range 2000 {
		q.Add(fmt.Sprintf("ns/%d", i), byNodes)
	}
	q.Add("ns/1500", byUser)
	if key, _, _ := q.Get(); key != "ns/1500" {
		t.Errorf("%s is first", key)
	}
}

// TestTurns: the work on a Service is as old as when it was asked for, over all its
// tries, and new when it was done.
func TestTurns(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1e9, 0))
	q := newQueue(clock, func(string, time.Duration) {}, 10)
	defer q.Close()
	asked := clock.Now()
	q.Add("a", byUser)
	clock.Step(time.Minute)
	take := func(want kit.Turn) {
		t.Helper()
		if _, turn, _ := q.Get(); turn != want {
			t.Errorf("turn %v, want %v", turn, want)
		}
	}
	take(kit.Turn{Urgency: kit.User, Since: asked})
	q.GoOn("a", 5*time.Second, byRetry)
	q.Done("a")
	clock.Step(5 * time.Second)
	pollUntil(t, func() bool { return countWaiting(q) == 1 })
	take(kit.Turn{Urgency: kit.Retry, Since: asked})
	q.AddAfter("a", time.Hour, byDrift)
	q.Done("a")
	clock.Step(time.Hour)
	pollUntil(t, func() bool { return countWaiting(q) == 1 })
	take(kit.Turn{Urgency: kit.Background, Since: clock.Now()})
	q.Done("a")
}

// TestTheSoonestTimeCounts: a key is due at the soonest of the times that it was given,
// and when it is taken before that, at none of them.
func TestTheSoonestTimeCounts(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1e9, 0))
	q := newQueue(clock, func(string, time.Duration) {}, 10)
	defer q.Close()
	q.AddAfter("a", time.Hour, byDrift)
	q.AddAfter("a", time.Second, byRetry)
	q.AddAfter("a", time.Minute, byNodes)
	clock.Step(time.Second)
	pollUntil(t, func() bool { return countWaiting(q) == 1 })
	if _, turn, _ := q.Get(); turn.Urgency != kit.Retry {
		t.Errorf("due for %v", turn)
	}
	q.Done("a")
	q.AddAfter("b", time.Minute, byDrift)
	q.Add("b", byUser)
	q.Get()
	q.Done("b")
	clock.Step(2 * time.Hour)
	if clock.HasWaiters() || countWaiting(q) > 0 {
		t.Error("a key is due although what it was due for is done")
	}
}

// TestAUserFindsAPlace: without waiting keys, not all places are taken.
func TestAUserFindsAPlace(t *testing.T) {
	q := newQueue(clock.RealClock{}, func(string, time.Duration) {}, 2)
	defer q.Close()
	for i := range 5 {
		q.Add(fmt.Sprint(i), byDrift)
	}
	q.Add("user", byUser)
	var got []string
	for range 3 {
		key, _, _ := q.Get()
		got = append(got, key)
	}
	if diff := cmp.Diff([]string{"user", "0", "1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	next := make(chan string)
	go func() {
		key, _, _ := q.Get()
		next <- key
	}()
	q.Add("another", byUser)
	if key := <-next; key != "another" {
		t.Errorf("%s has taken a place that is kept", key)
	}
	q.Done("0")
	if key, _, _ := q.Get(); key != "2" {
		t.Errorf("%s is next when there is a place", key)
	}
}

// TestReadingMakesWay: a background read ends when a user's change arrives, and a read
// for a user does not.
func TestReadingMakesWay(t *testing.T) {
	q := testQueue()
	defer q.Close()
	for _, tc := range []struct {
		first, then kit.Urgency
		ends        bool
	}{{byDrift, byUser, true}, {byNodes, byUser, true}, {byDrift, byNodes, false}, {byUser, byUser, false}} {
		q.Add("a", tc.first)
		q.Get()
		reading, done := q.Interruptible(t.Context(), "a")
		q.Add("a", tc.then)
		if ended := reading.Err() != nil; ended != tc.ends {
			t.Errorf("%v after %v: the reading has ended: %v", tc.then, tc.first, ended)
		}
		done()
		q.Done("a")
		if _, turn, _ := q.Get(); turn.Urgency != tc.then {
			t.Errorf("%v comes back for %v", tc.then, turn.Urgency)
		}
		q.Done("a")
	}
}

// TestWritingIsRaised: running work that writes continues with the priority of a user's
// change that arrives, and of no other cause.
func TestWritingIsRaised(t *testing.T) {
	q := testQueue()
	defer q.Close()
	for _, tc := range []struct {
		first, then kit.Urgency
		raised      int
	}{{byDrift, byUser, 1}, {byNodes, byUser, 1}, {byDrift, byNodes, 0}, {byUser, byUser, 0}} {
		for _, early := range []bool{false, true} {
			q.Add("a", tc.first)
			q.Get()
			raised := 0
			raise := func(time.Time) { raised++ }
			if early {
				q.Add("a", tc.then)
				q.Raisable("a", raise)
			} else {
				q.Raisable("a", raise)
				q.Add("a", tc.then)
			}
			if raised != tc.raised {
				t.Errorf("%v after %v: raised %d times, want %d", tc.then, tc.first, raised, tc.raised)
			}
			q.Done("a")
			q.Get()
			q.Done("a")
		}
	}
}

func nodeNamed(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: "toy://" + name},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// bursts collects how many nodes each telling had.
type bursts struct {
	mu   sync.Mutex
	told []int
}

func (b *bursts) tell(nodes []nodeports.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, len(nodes))
}

func (b *bursts) all() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]int{}, b.told...)
}

// pollUntil polls for the effect of another goroutine.
func pollUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for range 5000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("never came")
}

func watchNodes() (*nodeView, *testclock.FakeClock, *bursts) {
	clock, b := testclock.NewFakeClock(time.Unix(1e9, 0)), &bursts{}
	return newNodeView(clock, b.tell), clock, b
}

func TestABurstOfNodesIsOneChange(t *testing.T) {
	v, clock, b := watchNodes()
	for i := range 10 {
		v.set(nodeNamed(fmt.Sprint(i), nil))
		clock.Step(100 * time.Millisecond)
	}
	if told := b.all(); len(told) > 0 {
		t.Errorf("told %v before it was quiet", told)
	}
	clock.Step(nodeQuiet)
	pollUntil(t, func() bool { return len(b.all()) > 0 })
	if diff := cmp.Diff([]int{10}, b.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestABurstWithoutEndIsTold(t *testing.T) {
	v, clock, b := watchNodes()
	for i := range 10 { // never a second of quiet
		v.set(nodeNamed(fmt.Sprint(i), nil))
		clock.Step(600 * time.Millisecond)
	}
	pollUntil(t, func() bool { return len(b.all()) > 0 })
	if first := b.all()[0]; first < 8 || first > 10 {
		t.Errorf("told of %d nodes after %v, want those of the first %v", first, 10*600*time.Millisecond, nodeMost)
	}
}

func TestAHeartbeatIsNoChange(t *testing.T) {
	v, clock, b := watchNodes()
	n := nodeNamed("a", map[string]string{"zone": "1"})
	v.set(n)
	clock.Step(nodeQuiet)
	pollUntil(t, func() bool { return len(b.all()) == 1 })
	beat := n.DeepCopy()
	beat.ResourceVersion = "2"
	beat.Status.Conditions[0].LastHeartbeatTime = metav1.Time{Time: clock.Now()}
	v.set(beat)
	v.remove("never seen")
	if clock.HasWaiters() {
		t.Error("a heartbeat started the clock")
	}
	labelled := beat.DeepCopy()
	labelled.Labels["zone"] = "2"
	v.set(labelled)
	clock.Step(nodeQuiet)
	pollUntil(t, func() bool { return len(b.all()) == 2 })
	v.remove("a")
	clock.Step(nodeQuiet)
	pollUntil(t, func() bool { return len(b.all()) == 3 })
	if diff := cmp.Diff([]int{1, 1, 0}, b.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStartupIsOverOnce(t *testing.T) {
	var s startup
	if s.expect([]string{"a", "b"}) {
		t.Error("no Service waits")
	}
	got := []bool{s.planned("a"), s.planned("a"), s.planned("other"), s.planned("b"), s.planned("b")}
	if diff := cmp.Diff([]bool{false, false, false, true, false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var empty startup
	if !empty.expect(nil) {
		t.Error("an empty cluster is known at once")
	}
}

// testQueue returns a queue without metrics.
func testQueue() *queue { return newQueue(clock.RealClock{}, func(string, time.Duration) {}, 4096) }

// TestQueueIsMeasured: how many wait and for how long, also when a cause becomes
// more urgent meanwhile.
func TestQueueIsMeasured(t *testing.T) {
	c := testclock.NewFakeClock(time.Unix(1e9, 0))
	took := map[string]time.Duration{}
	q := newQueue(c, func(cause string, d time.Duration) { took[cause] = d }, 4096)
	defer q.Close()
	q.Add("a/drift", byDrift)
	c.Step(2 * time.Second)
	q.Add("a/user", byUser)
	c.Step(time.Second)
	q.Add("a/drift", byNodes)
	depth, oldest := q.depth()
	if d := cmp.Diff([]int{0, 1, 0, 0, 1}, depth); d != "" || oldest != 3*time.Second || q.oldest() != oldest {
		t.Errorf("want 3 s, got %s; depth (-want +got):\n%s", oldest, d)
	}
	drainQueue(q)
	if d := cmp.Diff(map[string]time.Duration{"user": time.Second, "nodes": 3 * time.Second}, took); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, oldest := q.depth(); oldest != 0 {
		t.Errorf("no Service waits any more, got %s", oldest)
	}
}
