package plugin

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
)

// wanted is what a Service is to carry after a run besides its addresses, which
// the stock loop writes. The error is what was wrong with the run.
func wanted(svc *corev1.Service, res reconcile.Result, failed error, outputs providers.Outputs) status.Want {
	want := service.Classes{Default: true, Installation: installation}.Marks(svc, res, outputs)
	want.LoadBalancer, want.Generation = nil, svc.Generation
	hold, gone := conditions.Standing(res)
	want.Conditions, want.DropConditions = append(append(hold, programmed(res, failed)), want.Conditions...), gone
	if _, known := service.RecordOf(svc); !known && want.Annotations == nil && len(res.Report.Results) > 0 {
		want.Annotations = map[string]string{status.AnnotationApplied: service.NewRecord(svc, "", installation).String()}
	}
	return want
}

// installation is the plugin's name in the record on a Service: an installation of
// Berth beside the stock loop must not take the Service for one of its own past.
const installation = "plugin"

// nothing is what a Service is to carry of ours when it is released. The addresses are the
// stock loop's.
func nothing(outputs providers.Outputs) status.Want {
	want := service.ReleasedMarks(outputs)
	want.LoadBalancer = nil
	return want
}

// leftOn tells whether something of ours is left on a Service that is not to have
// a load balancer, and would stay there or keep it from going.
func leftOn(svc *corev1.Service, outputs providers.Outputs) bool {
	if served(svc) {
		return false
	}
	want := nothing(outputs)
	if svc.DeletionTimestamp != nil { // all else goes with it
		want = status.Want{DropFinalizers: want.DropFinalizers}
	}
	_, left := status.Patch(svc, want)
	return left
}

// messages are what a run has to say that is no error.
func messages(res reconcile.Result, keys *annotations.Set) []message {
	var warnings []conditions.Event
	for _, p := range res.Draft.Problems {
		if p.Severity != annotations.Error {
			warnings = append(warnings, conditions.Event{Reason: conditions.EventFor(p, keys), Text: p.String()})
		}
	}
	var out []message
	for _, e := range conditions.Gather(warnings) {
		out = append(out, message{e.Reason, e.Text})
	}
	if nodes := res.Draft.Request.Backends.Nodes; res.Draft.Want != nil && nodes.FilteredOut() {
		out = append(out, message{status.EventNoMatchingNodes, "no node matches the filter of the load balancer, although there are nodes"})
	}
	for _, text := range res.Manual {
		out = append(out, message{status.EventManualChange, text})
	}
	return out
}

// programmed is the condition on what the cloud has. What the stock loop is told to
// call again for is not over yet.
func programmed(res reconcile.Result, failed error) status.Condition {
	cond := conditions.Programmed(res)
	if failed != nil && cond.Status == metav1.ConditionTrue {
		return status.NotProgrammed(status.ReasonPending, conditions.OneLine(failed))
	}
	return cond
}

// obstacles says what is waited for.
func obstacles(res reconcile.Result) string {
	return cmp.Or(conditions.Obstacles(res), "what was done is not over yet")
}
