package plugin

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// wanted is what a Service is to carry after a run besides its addresses, which
// the stock loop writes. The error is what was wrong with the run.
func wanted(svc *corev1.Service, res reconcile.Result, failed error, outputs providers.Outputs) status.Want {
	want := status.Want{Conditions: []status.Condition{accepted(res.Draft), programmed(res, failed)}}
	if !res.Draft.Untouched {
		want.Conditions = append(want.Conditions, res.Status.Conditions...)
		if len(res.Status.Ingress) > 0 {
			want.Outputs, want.AddFinalizers = res.Status.Annotations, res.Status.Finalizers
		}
		if res.Clean {
			want.DropFinalizers = stale(res.Status, outputs)
		}
	}
	digest, _, known := service.ParseApplied(svc)
	if record, done := res.Record(); done {
		want.Annotations = map[string]string{status.AnnotationApplied: service.AppliedBy(svc, record, installation)}
	} else if len(res.Report.Results) > 0 && (digest != "" || !known) {
		// Halfway between two inputs: what was recorded before is not what the cloud
		// has any more, and must not count as clean after a restart.
		want.Annotations = map[string]string{status.AnnotationApplied: service.AppliedBy(svc, "", installation)}
	}
	return want
}

// installation is the plugin's name in the record on a Service: an installation of
// Berth beside the stock loop must not take the Service for one of its own past.
const installation = "plugin"

// nothing is what a Service is to carry of ours when it is released.
func nothing(outputs providers.Outputs) status.Want {
	want := status.Want{
		DropConditions: status.Types(), DropFinalizers: outputs.Finalizers,
		Annotations: map[string]string{status.AnnotationApplied: ""}, Outputs: map[string]string{},
	}
	for _, key := range outputs.Annotations {
		want.Outputs[key] = ""
	}
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

// stale are the provider's finalizers that the load balancer as it is now does not
// have: another kind of it had them, and all of that is gone after a clean run.
func stale(answer status.Result, outputs providers.Outputs) []string {
	if len(answer.Ingress) == 0 || len(answer.Finalizers) == 0 {
		return nil // nothing is known to serve, or only that something does
	}
	return slices.DeleteFunc(slices.Clone(outputs.Finalizers), func(f string) bool { return slices.Contains(answer.Finalizers, f) })
}

// messages are what a run has to say that is no error.
func messages(res reconcile.Result, keys *annotations.Set) []message {
	var out []message
	for _, p := range res.Draft.Problems {
		if p.Severity != annotations.Error {
			out = append(out, message{eventFor(p, keys), p.String()})
		}
	}
	if nodes := res.Draft.Request.Backends.Nodes; res.Draft.Want != nil && nodes.FilteredOut() {
		out = append(out, message{status.EventNoMatchingNodes, "no node matches the filter of the load balancer, although there are nodes"})
	}
	for _, text := range res.Manual {
		out = append(out, message{status.EventManualChange, text})
	}
	return out
}

func eventFor(p annotations.Problem, keys *annotations.Set) status.EventReason {
	switch {
	case !strings.Contains(p.Key, "/"):
		return status.EventUnsupportedSpec // a field, or the nodes
	case keys.Knows(p.Key):
		return status.EventUnsupportedAnnotation
	}
	return status.EventUnknownAnnotation
}

// accepted is the condition on what the user wrote.
func accepted(draft *reconcile.Draft) status.Condition {
	switch {
	case draft.Refused.Errors():
		return status.NotAccepted(status.ReasonPolicyRefused, oneLine(draft.Refused.Err()))
	case draft.Problems.Errors():
		return status.NotAccepted(status.ReasonInvalidAnnotation, oneLine(draft.Problems.Err()))
	}
	return status.Accepted("")
}

// programmed is the condition on what the cloud has.
func programmed(res reconcile.Result, failed error) status.Condition {
	draft := res.Draft
	switch {
	case draft.Untouched:
		return status.NotProgrammed(status.ReasonNotAccepted, "nothing was changed, because the Service was not accepted")
	case res.Err != nil:
		return status.NotProgrammed(reasonFor(res.Err), oneLine(res.Err))
	case len(draft.Plan.Held) > 0 && !res.Waits:
		return status.NotProgrammed(heldReason(draft.Plan.Held), heldText(draft.Plan.Held))
	case draft.Problems.Errors():
		return status.NotProgrammed(status.ReasonNotAccepted, "the last accepted state is kept up; the Service as it is now was not accepted")
	case failed != nil:
		return status.NotProgrammed(status.ReasonPending, oneLine(failed))
	}
	return status.Programmed(strings.Join(res.Manual, "; "))
}

// heldReason says who keeps the first step from being done.
func heldReason(held []plan.Held) status.Reason {
	reasons := map[string]status.Reason{
		"proof": status.ReasonNotOurs, "slot": status.ReasonSlotTaken, "filter": status.ReasonNoMatchingNodes,
	}
	if reason, ok := reasons[held[0].By]; ok {
		return reason
	}
	return status.ReasonHeldForSafety
}

func heldText(held []plan.Held) string {
	var text []string
	for _, h := range held {
		text = append(text, h.Step.ID.String()+": "+h.Why)
	}
	return strings.Join(text, "; ")
}

// obstacles says what is waited for.
func obstacles(res reconcile.Result) string {
	var text []string
	for _, r := range res.Report.Results {
		if r.State == engine.Waiting && r.Because == (plan.StepID{}) {
			line := r.Step.ID.String()
			if r.Outcome.Err != nil {
				line = oneLine(r.Outcome.Err)
			}
			text = append(text, line)
		}
	}
	if held := heldText(res.Draft.Plan.Held); held != "" {
		text = append(text, held)
	}
	if len(text) == 0 {
		return "what was done is not over yet"
	}
	return strings.Join(text, "; ")
}

// reasonFor names a failure by what it means.
func reasonFor(err error) status.Reason {
	reasons := map[fault.Meaning]status.Reason{
		fault.Invalid: status.ReasonRefused, fault.Quota: status.ReasonQuotaExceeded, fault.Denied: status.ReasonDenied,
		fault.Throttled: status.ReasonThrottled, fault.Conflict: status.ReasonConflict, fault.Exists: status.ReasonConflict,
		fault.InUse: status.ReasonInUse, fault.Pending: status.ReasonPending,
		fault.Unavailable: status.ReasonCloudUnavailable, fault.Ambiguous: status.ReasonCloudUnavailable,
	}
	if reason, ok := reasons[fault.Of(err)]; ok {
		return reason
	}
	return status.ReasonCloudError
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
