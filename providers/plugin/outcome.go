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

// desiredMarks returns what a Service carries after a run besides its addresses, which
// the stock loop writes. The error is the result of the run.
func desiredMarks(svc *corev1.Service, res reconcile.Result, failed error, outputs providers.Outputs) status.Want {
	want := service.Classes{Default: true, Installation: installation}.Marks(svc, res, outputs)
	want.LoadBalancer, want.Generation = nil, svc.Generation
	hold, gone := conditions.Standing(res)
	want.Conditions, want.DropConditions = append(append(hold, programmedCondition(res, failed)), want.Conditions...), gone
	if _, known := service.RecordOf(svc); !known && want.Annotations == nil && len(res.Report.Results) > 0 {
		want.Annotations = map[string]string{status.AnnotationApplied: service.NewRecord(svc, "", installation).String()}
	}
	return want
}

// installation is the plugin's name in the record on a Service: an installation of
// Berth beside the stock loop must not take the Service for one of its own past.
const installation = "plugin"

// releasedMarks returns what a released Service carries of ours. The addresses are
// written by the stock loop.
func releasedMarks(outputs providers.Outputs) status.Want {
	want := service.ReleasedMarks(outputs)
	want.LoadBalancer = nil
	return want
}

// leftOn reports whether a Service without a load balancer still carries marks of ours
// that would remain or block its deletion.
func leftOn(svc *corev1.Service, outputs providers.Outputs) bool {
	if isServed(svc) {
		return false
	}
	want := releasedMarks(outputs)
	if svc.DeletionTimestamp != nil { // everything else is deleted with it
		want = status.Want{DropFinalizers: want.DropFinalizers}
	}
	_, left := status.Patch(svc, want)
	return left
}

// runMessages returns the messages of a run that are not errors.
func runMessages(res reconcile.Result, keys *annotations.Set) []message {
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

// programmedCondition returns the condition about the cloud's state. A run that the
// stock loop must repeat is not complete.
func programmedCondition(res reconcile.Result, failed error) status.Condition {
	cond := conditions.Programmed(res)
	if failed != nil && cond.Status == metav1.ConditionTrue {
		return status.NotProgrammed(status.ReasonPending, conditions.OneLine(failed))
	}
	return cond
}

// runObstacles returns what a run waits for.
func runObstacles(res reconcile.Result) string {
	return cmp.Or(conditions.Obstacles(res), "what was done is not over yet")
}
