package verdict

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Accepted is the condition on what the user wrote.
func Accepted(draft *reconcile.Draft) status.Condition {
	if draft.Refused.Errors() {
		return status.NotAccepted(status.ReasonPolicyRefused, strings.Join(draft.Refused.Strings(), "; "))
	}
	if !draft.Problems.Errors() {
		return status.Accepted("")
	}
	var text []string
	for _, p := range draft.Problems {
		if p.Severity == annotations.Error {
			text = append(text, p.String())
		}
	}
	return status.NotAccepted(status.ReasonInvalidAnnotation, strings.Join(text, "; "))
}

// Programmed is the condition on what the cloud has.
func Programmed(result reconcile.Result) status.Condition {
	draft := result.Draft
	switch {
	case draft.Untouched:
		return status.NotProgrammed(status.ReasonNotAccepted, "nothing was changed, because the Service was not accepted")
	case result.Err != nil:
		return status.NotProgrammed(ReasonFor(result.Err), OneLine(result.Err))
	case result.Kept():
		return status.Programmed("as another controller left it, but for " + HeldText(draft.Plan.Held))
	case len(draft.Plan.Held) > 0:
		return Held(draft.Plan.Held)
	case draft.Problems.Errors():
		return status.NotProgrammed(status.ReasonNotAccepted, "the last accepted state is kept up; the Service as it is now was not accepted")
	case result.Waits && !onlyGates(result):
		return status.NotProgrammed(status.ReasonPending, "waiting for the cloud: "+Obstacles(result))
	case result.Again:
		return status.NotProgrammed(status.ReasonPending, "going on: what was done now makes more to be done")
	}
	return status.Programmed(strings.Join(result.Manual, "; "))
}

// Unread is the condition on a Service that could not be planned; false where it
// must stay as it is, because what was programmed before still is, as far as
// anybody knows.
func Unread(svc *corev1.Service, cause error) (status.Condition, bool) {
	for _, cond := range svc.Status.Conditions {
		if cond.Type == status.TypeProgrammed && cond.Status == metav1.ConditionTrue {
			return status.Condition{}, false
		}
	}
	return status.NotProgrammed(ReasonFor(cause), OneLine(cause)), true
}

// Held says who keeps steps from being done; the first one names it.
func Held(held []plan.Held) status.Condition {
	h, reason := held[0], status.ReasonHeldForSafety
	switch {
	case strings.HasPrefix(h.By, "policy"):
		reason = status.ReasonHeldByPolicy
	case h.By == "proof":
		reason = status.ReasonNotOurs
	case h.By == "slot":
		reason = status.ReasonSlotTaken
	case h.By == "filter":
		reason = status.ReasonNoMatchingNodes
	}
	return status.NotProgrammed(reason, HeldText(held))
}

// ReasonFor names the first failure by what it means.
func ReasonFor(err error) status.Reason {
	reasons := map[fault.Meaning]status.Reason{
		fault.Invalid:     status.ReasonRefused,
		fault.Quota:       status.ReasonQuotaExceeded,
		fault.Denied:      status.ReasonDenied,
		fault.Throttled:   status.ReasonThrottled,
		fault.Conflict:    status.ReasonConflict,
		fault.Exists:      status.ReasonConflict,
		fault.InUse:       status.ReasonInUse,
		fault.Pending:     status.ReasonPending,
		fault.Unavailable: status.ReasonCloudUnavailable,
		fault.Ambiguous:   status.ReasonCloudUnavailable,
	}
	if reason, ok := reasons[fault.Of(err)]; ok {
		return reason
	}
	return status.ReasonCloudError
}

// StaleFinalizers are the provider's finalizers that the load balancer as it is now
// does not have: another kind of it had them, and all of that is gone after a clean
// run. Nothing is stale while that is not known.
func StaleFinalizers(result reconcile.Result, outputs providers.Outputs) []string {
	if !result.Clean || result.Glimpsed || len(result.Status.Ingress) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(outputs.Finalizers), func(f string) bool { return slices.Contains(result.Status.Finalizers, f) })
}
