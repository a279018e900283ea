package reconcile_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
)

// TestNamespaceLabels: where the cloud looks at a label of the namespace, a change
// of it changes the stack, and one of another label costs nothing. A Service with a
// mistake keeps what the label said when it was fine.
func TestNamespaceLabels(t *testing.T) {
	w, cloud := newWorld(), toyCloud()
	cloud.Labels = func(string) providers.Labels { return providers.Labels{Namespace: []string{"tier"}} }
	cloud.Build = func(in providers.Input[string], facts struct{}, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		out, problems, err := buildToy(in, facts, have)
		if in.NamespaceLabels["tier"] == "back" {
			out.Put(stack.Resource{Key: lbKey, Spec: balancer{Scheme: "internal"}})
		}
		return out, problems, err
	}
	clock := testclock.NewFakeClock(time.Unix(1e9, 0))
	p := &process{Reconciler: reconcile.New(providers.Bind(cloud, "", "cluster", w), reconcile.Options{Now: clock.Now, GatherReleases: time.Millisecond}), w: w, clock: clock}
	p.SetNodes(twoNodes())
	p.AllKnown()
	if !p.WantsNamespaceLabels() || startKnown(newWorld()).WantsNamespaceLabels() {
		t.Error("only the cloud that looks at labels wants them")
	}
	in := func(svc *corev1.Service, labels map[string]string) reconcile.Job {
		return reconcile.Job{Service: svc, NamespaceLabels: labels}
	}
	svc := newShop("a", one)
	p.settle(t, in(svc, map[string]string{"tier": "front"}))
	checkEqual(t, []string{"a lb public", "a listener 80 to 30080", "a pool 30080 [n1 n2]", "rule health", "rule node port 30080"}, w.show(t))
	checkEqual(t, cost{}, p.cost(func() { p.settle(t, in(svc, map[string]string{"tier": "front", "team": "x"})) }))
	internal := []string{"a lb internal", "a listener 80 to 30080", "a pool 30080 [n1 n2]", "rule health", "rule node port 30080"}
	p.settle(t, in(svc, map[string]string{"tier": "back"}))
	checkEqual(t, internal, w.show(t))
	bad := newShop("a", one, "scheme=nowhere")
	if res, err := p.once(in(bad, map[string]string{"tier": "front"})); err != nil || !res.Draft.Problems.Errors() {
		t.Errorf("%v, problems %v", err, res.Draft.Problems)
	}
	checkEqual(t, internal, w.show(t))
}
