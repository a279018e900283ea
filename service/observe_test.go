package service

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/health"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestWordOfAnAttempt: every end of a run has one word.
func TestWordOfAnAttempt(t *testing.T) {
	compared := func() *reconcile.Draft { return &reconcile.Draft{Desired: reconcile.Desired{Want: &stack.Stack{}}} }
	bad := annotations.Problems{{Severity: annotations.Error}}
	throttled := fault.New(fault.Throttled, "slower")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "x", errors.New("changed"))
	for want, all := range map[string][]attempt{
		metrics.ResultUnchanged: {{draft: &reconcile.Draft{Clean: true}}},
		metrics.ResultDone:      {{draft: compared()}},
		metrics.ResultReleased:  {{draft: compared(), result: reconcile.Result{Released: true}}},
		metrics.ResultWaiting: {
			{draft: compared(), result: reconcile.Result{Waits: true}}, {draft: compared(), result: reconcile.Result{Again: true}},
			{err: conflict, again: isOutdated(conflict)},
		},
		metrics.ResultHeld: {{draft: &reconcile.Draft{Desired: reconcile.Desired{Want: &stack.Stack{}}, Plan: plan.Plan{Blocked: []plan.Blocked{{By: "proof"}}}}}},
		metrics.ResultRejected: {
			{draft: &reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.LeaveAlone}}}, {draft: &reconcile.Draft{Clean: true, Parsed: reconcile.Parsed{Problems: bad}}},
		},
		metrics.ResultThrottled: {{err: throttled}, {draft: compared(), result: reconcile.Result{Err: throttled}}},
		metrics.ResultFailed: {
			{err: errors.New("cut")}, {draft: compared(), result: reconcile.Result{Err: fault.New(fault.Quota, "full")}},
			{draft: compared(), err: errors.New("status")},
		},
	} {
		for i, a := range all {
			if got := a.word(); got != want {
				t.Errorf("%s %d: got %s", want, i, got)
			}
		}
	}
}

// TestLookingIsCheap: a run that finds nothing to do pays little for being seen.
func TestLookingIsCheap(t *testing.T) {
	c := &Controller{options: Options{Clock: clock.RealClock{}, Watchers: Watchers{
		Metrics: metrics.New("aws", metrics.Build{}, clock.RealClock{}),
		Health:  health.New(health.Options{Clock: clock.RealClock{}, Stuck: time.Hour}),
	}}}
	svc, draft := &corev1.Service{}, &reconcile.Draft{Clean: true}
	got := testing.AllocsPerRun(1000, func() {
		done := c.options.Watchers.Health.Begin("default/web")
		ctx, end := c.observe(t.Context(), svc)
		attemptOf(ctx).draft = draft
		end()
		done()
	})
	const most = 6
	if got > most {
		t.Errorf("want at most %d allocations, got %v", most, got)
	}
}
