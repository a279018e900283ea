package service

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestWordOfAnAttempt: every end of a run has one word.
func TestWordOfAnAttempt(t *testing.T) {
	compared := func() *reconcile.Draft { return &reconcile.Draft{Want: &stack.Stack{}} }
	bad := annotations.Problems{{Severity: annotations.Error}}
	throttled := fault.New(fault.Throttled, "slower")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "x", errors.New("changed"))
	for want, all := range map[string][]attempt{
		metrics.ResultUnchanged: {{draft: &reconcile.Draft{Clean: true}}},
		metrics.ResultDone:      {{draft: compared()}},
		metrics.ResultReleased:  {{draft: compared(), result: reconcile.Result{Released: true}}},
		metrics.ResultWaiting: {
			{draft: compared(), result: reconcile.Result{Waits: true}}, {draft: compared(), result: reconcile.Result{Again: true}},
			{err: conflict, again: overtaken(conflict)},
		},
		metrics.ResultHeld: {{draft: &reconcile.Draft{Want: &stack.Stack{}, Plan: plan.Plan{Held: []plan.Held{{By: "proof"}}}}}},
		metrics.ResultRejected: {
			{draft: &reconcile.Draft{Untouched: true}}, {draft: &reconcile.Draft{Clean: true, Problems: bad}},
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
