package conditions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/status"
)

// Unread returns the condition for a Service that could not be planned; false: the
// conditions stay as they are, because the Service is the one that was programmed
// before and nothing contradicts that it still is. A changed Service is never reported
// as programmed: the condition would speak of an earlier one.
func Unread(svc *corev1.Service, changed bool, cause error) (status.Condition, bool) {
	programmed := slices.ContainsFunc(svc.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == status.TypeProgrammed && c.Status == metav1.ConditionTrue
	})
	if programmed && !changed {
		return status.Condition{}, false
	}
	return Failed(cause), true
}

// Failed returns the condition while something fails: what failed, and the next step.
// Sent is text of the requests that failed: what it contains is kept in the message.
func Failed(err error, sent ...string) status.Condition {
	return status.NotProgrammed(ReasonFor(err), withRemedy(Steady(lastingFailures(err), sent...), err))
}

// FailedRelease is Failed for a Service that is being deleted: a change of the Service
// is no remedy for it.
func FailedRelease(err error, sent ...string) status.Condition {
	text := Steady(lastingFailures(err), sent...)
	if reason := ReasonFor(err); reason != status.ReasonRefused {
		return status.NotProgrammed(reason, withRemedy(text, err))
	}
	return status.NotProgrammed(status.ReasonRefused, trimStop(text)+"; the deletion is retried, and the finalizer stays until it succeeds")
}

// FailedText is the text of Failed for an event, in full.
func FailedText(err error) string { return withRemedy(Told(lastingFailures(err)), err) }

// sentBy returns the specs of the steps that failed in a run, as text.
func sentBy(result reconcile.Result) []string {
	var out []string
	for _, r := range result.Report.Results {
		if r.State == engine.Failed {
			out = append(out, fmt.Sprintf("%+v", r.Step.Target.Spec))
		}
	}
	return out
}

// lastingFailures returns what to report of an error that may be a list: the failures that
// only a person can solve, if there are any, and else all. Failures that pass by
// themselves differ from one try to the next and hide the lasting ones.
func lastingFailures(err error) error {
	all := splitErrors(err)
	lasting := slices.DeleteFunc(slices.Clone(all), func(one error) bool { return isTransient(fault.Of(one)) })
	if len(lasting) == 0 || len(lasting) == len(all) {
		return err
	}
	return fault.Listed(lasting...)
}

// isTransient reports whether failures of the meaning end without a change by a person.
func isTransient(m fault.Meaning) bool {
	switch m {
	case fault.Throttled, fault.Unavailable, fault.Conflict, fault.Ambiguous, fault.Pending, fault.InUse, fault.Internal:
		return true
	default:
		return false
	}
}

// leadingFailure returns the failure that decides on reason and remedy: the first one that only
// a person can solve, else the first one.
func leadingFailure(err error) error {
	all := splitErrors(err)
	if i := slices.IndexFunc(all, func(one error) bool { return !isTransient(fault.Of(one)) }); i >= 0 {
		return all[i]
	}
	return all[0]
}

// withRemedy returns the text of a failure and the next step.
func withRemedy(text string, err error) string {
	first := leadingFailure(err)
	if fault.Helped(first) {
		return text
	}
	return trimStop(text) + remedyOf(first)
}

// trimStop removes the full stop at the end of a text, but no sign of omission.
func trimStop(text string) string {
	if strings.HasSuffix(text, left) {
		return text
	}
	return strings.TrimRight(text, ".")
}

// remedyOf returns the next step for a failure: by its cause, else by its reason.
func remedyOf(err error) string {
	text := map[fault.Cause]string{
		fault.Unauthenticated: "the cloud does not accept the controller's credentials: renew or correct them",
		fault.Locked:          "remove the lock or protection in the cloud; the controller then continues by itself",
		fault.Policy:          "ask the administrator of the cloud organisation for an exception, or change the Service",
		fault.Account:         "the cloud account cannot use this service: ask its administrator to enable it",
		fault.Addresses:       "free addresses of this subnet or pool, or choose another one; the controller retries",
		fault.Held:            "release the address from the resource that uses it, or choose another address; the controller retries",
		fault.Capacity:        "the cloud has no capacity left here: choose another zone, shape or region; the controller retries",
		fault.Balance:         "pay the balance of the cloud account; the controller retries",
		fault.Full:            "this limit cannot be raised: serve fewer ports or nodes, or spread the Services over several load balancers",
	}[fault.CauseOf(err)]
	switch limit := fault.LimitOf(err).String(); {
	case text != "":
		return "; " + text
	case fault.Is(err, fault.Exists):
		return "; a resource that is not the Service's has this name or address: choose another one, or free it; the controller retries"
	case fault.Is(err, fault.NotFound):
		return "; it does not exist, or the controller's credentials may not read it: correct its name, or grant the right, see docs/permissions"
	case fault.Is(err, fault.Quota) && limit != "":
		return "; raise " + limit + " or delete unused resources; the controller retries"
	}
	return suggestRemedy(ReasonFor(err))
}

// suggestRemedy returns what a user or the operator of the cluster can do about a failure;
// empty where it passes by itself. It follows the text of the failure.
func suggestRemedy(reason status.Reason) string {
	text := map[status.Reason]string{
		status.ReasonUnauthenticated:  "the cloud does not accept the controller's credentials: renew or correct them",
		status.ReasonDenied:           "the controller's credentials lack this right: grant it, see docs/permissions",
		status.ReasonQuotaExceeded:    "raise this limit of the cloud account or delete unused resources; the controller retries",
		status.ReasonRefused:          "change the Service, or the cloud resource that it names",
		status.ReasonCloudUnavailable: "the controller retries",
		status.ReasonCloudError:       "the controller retries; its log contains the whole answer",
		status.ReasonHeldByPolicy:     "undo the change, or allow it in the flag --policy of the controller",
		status.ReasonSlotTaken:        "the controller retries when it is free; until then use another port or address",
		status.ReasonNotOurs:          "rename or delete the existing resource, if it is not needed",
		status.ReasonConflict:         "the controller reads the resource again and retries; if this persists, another program changes it as well",
		status.ReasonInUse:            "the controller retries; if this persists, remove what uses the resource",
	}[reason]
	if text == "" {
		return ""
	}
	return "; " + text
}

// ReasonFor returns the reason for a failure; of several, for the first one that only
// a person can solve.
func ReasonFor(err error) status.Reason {
	first := leadingFailure(err)
	byCause := map[fault.Cause]status.Reason{
		fault.Unauthenticated: status.ReasonUnauthenticated,
		fault.Locked:          status.ReasonLocked,
		fault.Policy:          status.ReasonOrganizationPolicy,
	}
	reasons := map[fault.Meaning]status.Reason{
		fault.Invalid:     status.ReasonRefused,
		fault.Taken:       status.ReasonSlotTaken,
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
	return cmp.Or(byCause[fault.CauseOf(first)], reasons[fault.Of(first)], status.ReasonCloudError)
}
