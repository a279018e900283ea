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
)

func drain(q *queue) []string {
	var out []string
	for q.Len() > 0 {
		key, _ := q.Get()
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
			q.AddBy("a", byNodes)
			q.AddBy("b", byNodes)
		}, []string{"a", "b"}},
		"the most urgent first": {func(q *queue) {
			q.AddBy("drift", byDrift)
			q.AddBy("nodes", byNodes)
			q.AddBy("user", byUser)
			q.AddBy("retry", byRetry)
		}, []string{"user", "retry", "nodes", "drift"}},
		"a more urgent cause moves a key up": {func(q *queue) {
			q.AddBy("a", byNodes)
			q.AddBy("b", byNodes)
			q.AddBy("b", byUser)
		}, []string{"b", "a"}},
		"a less urgent one does not move it down": {func(q *queue) {
			q.AddBy("a", byUser)
			q.AddBy("b", byUser)
			q.AddBy("a", byDrift)
		}, []string{"a", "b"}},
		"no cause is the least": {func(q *queue) {
			q.Add("a")
			q.AddBy("b", byNodes)
		}, []string{"b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := testQueue()
			defer q.ShutDown()
			tc.fill(q)
			if diff := cmp.Diff(tc.want, drain(q)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUrgencyOfAKeyAtWork(t *testing.T) {
	q := testQueue()
	defer q.ShutDown()
	q.AddBy("a", byUser)
	q.AddBy("n", byNodes)
	key, _ := q.Get()
	q.AddBy("a", byNodes) // while it is worked on: the old cause is dealt with
	q.AddBy("m", byRetry)
	q.Done(key)
	if diff := cmp.Diff([]string{"m", "n", "a"}, drain(q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(q.order.cause) > 0 {
		t.Errorf("causes are kept of keys that are gone: %v", q.order.cause)
	}
}

func TestAUserIsNotKeptWaiting(t *testing.T) {
	q := testQueue()
	defer q.ShutDown()
	for i := range 2000 {
		q.AddBy(fmt.Sprintf("ns/%d", i), byNodes)
	}
	q.AddBy("ns/1500", byUser)
	if key, _ := q.Get(); key != "ns/1500" {
		t.Errorf("%s is first", key)
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

// until polls for what another goroutine does.
func until(t *testing.T, ok func() bool) {
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
	until(t, func() bool { return len(b.all()) > 0 })
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
	until(t, func() bool { return len(b.all()) > 0 })
	if first := b.all()[0]; first < 8 || first > 10 {
		t.Errorf("told of %d nodes after %v, want those of the first %v", first, 10*600*time.Millisecond, nodeMost)
	}
}

func TestAHeartbeatIsNoChange(t *testing.T) {
	v, clock, b := watchNodes()
	n := nodeNamed("a", map[string]string{"zone": "1"})
	v.set(n)
	clock.Step(nodeQuiet)
	until(t, func() bool { return len(b.all()) == 1 })
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
	until(t, func() bool { return len(b.all()) == 2 })
	v.remove("a")
	clock.Step(nodeQuiet)
	until(t, func() bool { return len(b.all()) == 3 })
	if diff := cmp.Diff([]int{1, 1, 0}, b.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStartupIsOverOnce(t *testing.T) {
	var s startup
	if s.expect([]string{"a", "b"}) {
		t.Error("nobody to wait for")
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

// testQueue is a queue that nobody measures.
func testQueue() *queue { return newQueue(clock.RealClock{}, func(string, time.Duration) {}) }

// TestQueueIsMeasured: how many wait and for how long, also when a cause becomes
// more urgent meanwhile.
func TestQueueIsMeasured(t *testing.T) {
	c := testclock.NewFakeClock(time.Unix(1e9, 0))
	took := map[string]time.Duration{}
	q := newQueue(c, func(cause string, d time.Duration) { took[cause] = d })
	defer q.ShutDown()
	q.AddBy("a/drift", byDrift)
	c.Step(2 * time.Second)
	q.AddBy("a/user", byUser)
	c.Step(time.Second)
	q.AddBy("a/drift", byNodes)
	depth, oldest := q.order.depth()
	if d := cmp.Diff([]int{0, 1, 0, 0, 1}, depth); d != "" || oldest != 3*time.Second || q.order.oldest() != oldest {
		t.Errorf("want 3 s, got %s; depth (-want +got):\n%s", oldest, d)
	}
	drain(q)
	if d := cmp.Diff(map[string]time.Duration{"user": time.Second, "nodes": 3 * time.Second}, took); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, oldest := q.order.depth(); oldest != 0 {
		t.Errorf("nobody waits any more, got %s", oldest)
	}
}
