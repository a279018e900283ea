package service

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

func stepOf(kind string) plan.Step {
	return plan.Step{ID: plan.StepID{Key: stack.Key{Kind: stack.Kind(kind)}, Action: plan.Delete}}
}

func gated(kind string) plan.Step {
	s := stepOf(kind)
	s.Gate = plan.Gate{After: time.Minute, Since: "test"}
	return s
}

func resultOf(d reconcile.Draft, results ...engine.Result) reconcile.Result {
	r := reconcile.Result{Draft: &d, Report: engine.Report{Results: results}}
	r.Err = r.Report.Err()
	r.Wait, r.Waits = r.Report.Wait()
	return r
}

func heldBy(by string) reconcile.Draft {
	return reconcile.Draft{Plan: plan.Plan{Held: []plan.Held{{Step: stepOf("x"), By: by, Why: "why"}}}}
}

func failure(m fault.Meaning) engine.Result {
	return engine.Result{Step: stepOf("x"), State: engine.Failed, Outcome: plan.Failed(fault.New(m, "no"))}
}

var refused = annotations.Problems{{Key: "k", Severity: annotations.Error}}

func newLoop() *Controller {
	return &Controller{
		options: Options{Clock: testclock.NewFakeClock(time.Unix(1e9, 0))}, seen: newMemory(),
		reconciler: reconcile.New(providers.Bound{}, reconcile.Options{}), // of a cloud without outputs
	}
}

func TestWanted(t *testing.T) {
	serving := status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname("lb.example.com")}}
	clean := resultOf(reconcile.Draft{Digest: "new"})
	clean.Clean, clean.Status = true, serving
	halfway := resultOf(reconcile.Draft{Digest: "new"}, failure(fault.Quota))
	halfway.Status = serving
	untouched := resultOf(reconcile.Draft{Untouched: true, Problems: refused})
	switching := resultOf(reconcile.Draft{}, engine.Result{Step: gated("old-lb"), State: engine.Waiting})
	known := func(digest string) *corev1.Service {
		svc := given("berth")
		svc.Annotations[status.AnnotationApplied] = Applied(svc, digest)
		return svc
	}
	for name, tc := range map[string]struct {
		svc       *corev1.Service
		result    reconcile.Result
		record    map[string]string
		addresses bool
		replacing bool
	}{
		"clean":                         {known("old"), clean, map[string]string{status.AnnotationApplied: "new;class=berth"}, true, false},
		"halfway, the old record lies":  {known("old"), halfway, map[string]string{status.AnnotationApplied: ";class=berth"}, true, false},
		"halfway, nothing recorded":     {given("berth"), halfway, nil, true, false},
		"nothing done, nothing said":    {known("old"), untouched, nil, false, false},
		"held: the record holds":        {known("old"), resultOf(heldBy("policy dry-run")), nil, false, false},
		"no address: the old one stays": {known(""), switching, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := newLoop().wanted(tc.svc, tc.result)
			if diff := cmp.Diff(tc.record, got.Annotations); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if has := got.LoadBalancer != nil; has != tc.addresses {
				t.Errorf("writes addresses %v, want %v", has, tc.addresses)
			}
			replacing := false
			for _, c := range got.Conditions {
				replacing = replacing || c.Type == status.TypeReplacing
			}
			if replacing != tc.replacing {
				t.Errorf("says that it is replacing %v, want %v", replacing, tc.replacing)
			}
		})
	}
}

func TestWaitsGrow(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1e9, 0))
	c := &Controller{options: Options{Clock: clock}, seen: newMemory()}
	var got []time.Duration
	for range 7 {
		wait := c.nextWait("k", 0)
		if again := c.nextWait("k", 0); again != wait {
			t.Errorf("looked at twice at a time: waits %v, then %v", wait, again)
		}
		got = append(got, wait)
		clock.Step(wait)
	}
	want := []time.Duration{5 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if asked := c.nextWait("k", 3*time.Second); asked != 3*time.Second {
		t.Errorf("the cloud asked for 3s and gets %v", asked)
	}
}

func TestGatesCountFromTheSwitch(t *testing.T) {
	c := newLoop()
	gate := plan.Gate{After: time.Minute}
	svc := given("")
	if wait := c.gates(svc)(gate); wait != time.Minute {
		t.Errorf("nothing is switched yet: %v", wait)
	}
	svc.Status.Conditions = []metav1.Condition{{
		Type: status.TypeReplacing, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Time{Time: c.options.Clock.Now().Add(-45 * time.Second)},
	}}
	if wait := c.gates(svc)(gate); wait != 15*time.Second {
		t.Errorf("45 s after the switch: %v, want 15s", wait)
	}
	if wait := openGates(gate); wait > 0 {
		t.Errorf("a release waits %v", wait)
	}
}
