package conditions

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Accepted returns the condition on the Service as written. Its message lists every
// problem, warnings included: events expire after an hour, the problems remain.
func Accepted(draft *reconcile.Draft) status.Condition {
	text := strings.Join(draft.Problems.Sorted().Strings(), "; ")
	switch {
	case draft.Refused.Errors():
		return status.NotAccepted(status.ReasonPolicyRefused, text)
	case draft.Problems.Errors():
		return status.NotAccepted(reasonOf(draft.Problems), text)
	}
	return status.Accepted(text)
}

// Standing returns the conditions of a run other than Programmed: the conditions that
// hold, and the types of the others.
func Standing(result reconcile.Result) (hold []status.Condition, gone []string) {
	hold = []status.Condition{Accepted(result.Draft)}
	if ports, refused := PortsError(result.Draft); refused {
		hold = append(hold, ports)
	} else {
		gone = append(gone, status.TypePortsError)
	}
	if old, waits := Replacing(result); waits {
		hold = append(hold, status.Replacing("both load balancers serve; "+old+" is deleted a minute after the switch"))
	} else if old, after, waits := Lingering(result); waits {
		hold = append(hold, status.Replacing(fmt.Sprintf("%s has been replaced and is still used for a while; it is deleted %v after the switch", old, after)))
	} else {
		gone = append(gone, status.TypeReplacing)
	}
	return hold, gone
}

// PortsError is Kubernetes' own condition on ports that cannot be served together;
// false if there is nothing of that sort to say.
func PortsError(draft *reconcile.Draft) (status.Condition, bool) {
	for _, p := range draft.Problems {
		if annotations.CodeOf(p) == annotations.CodeMixed {
			return status.PortsError(p.String()), true
		}
	}
	return status.Condition{}, false
}

// reasonOf names the first error by what is wrong: a field, or an annotation.
func reasonOf(problems annotations.Problems) status.Reason {
	for _, p := range problems.Sorted() {
		if p.Severity == annotations.Error {
			return classifyProblem(p).reason
		}
	}
	return status.ReasonInvalidAnnotation
}

// telling names a user's error in conditions and events.
type telling struct {
	reason status.Reason
	event  status.EventReason
}

func classifyProblem(p annotations.Problem) telling {
	switch annotations.CodeOf(p) {
	case annotations.CodeField, annotations.CodeRanges, annotations.CodeHealthPort:
		return telling{status.ReasonInvalidSpec, status.EventInvalidSpec}
	case annotations.CodeNodePort:
		return telling{status.ReasonNoNodePort, status.EventNoNodePort}
	case annotations.CodeSpec, annotations.CodeProtocol, annotations.CodeMixed, annotations.CodeAffinity, annotations.CodeAddress,
		annotations.CodeFamily, annotations.CodePorts:
		if p.Taken && p.Key == "spec.ports" {
			return telling{status.ReasonUnsupportedSpec, status.EventSlotTaken}
		}
		return telling{status.ReasonUnsupportedSpec, status.EventUnsupportedSpec}
	default:
		return telling{status.ReasonInvalidAnnotation, status.EventInvalidAnnotation}
	}
}

// Programmed returns the condition on what the cloud has. While it is not True, its message
// begins with the desired ports that serve no one.
func Programmed(result reconcile.Result) status.Condition {
	cond := programmedOf(result)
	if cond.Status == metav1.ConditionFalse && len(result.Closed) > 0 {
		cond.Message = "no traffic on " + strings.Join(result.Closed, ", ") + ": " + cond.Message
	}
	return cond
}

func programmedOf(result reconcile.Result) status.Condition {
	draft := result.Draft
	switch {
	case draft.Intent == reconcile.LeaveAlone:
		return status.NotProgrammed(status.ReasonNotAccepted, "the Service was not accepted; existing cloud resources are kept as they are")
	case result.Err != nil && draft.Intent == reconcile.Release:
		return FailedRelease(result.Err, sentBy(result)...)
	case result.Err != nil:
		return failedRun(result)
	case result.Kept():
		return programmedUnless(draft, []string{"left as another controller made it (--on-takeover=keep); not changed: " + HeldText(draft.Plan.Blocked)})
	case len(draft.Plan.Blocked) > 0:
		return Held(draft.Plan.Blocked)
	case draft.Problems.Errors():
		return status.NotProgrammed(status.ReasonNotAccepted, notAccepted(result))
	case result.Waits && !onlyGates(result):
		return status.NotProgrammed(waitsFor(result), "waiting for the cloud: "+Obstacles(result))
	case result.Again:
		return status.NotProgrammed(status.ReasonPending, "more steps follow from what was done; they are done at once")
	}
	return programmedUnless(draft, slices.Concat(describeServing(result), describeNoBackends(draft), result.Manual))
}

// programmedUnless returns True with the texts, unless the live load balancer cannot take over a
// value of the Service.
func programmedUnless(draft *reconcile.Draft, texts []string) status.Condition {
	if missing := draft.Problems.Unapplied(); len(missing) > 0 {
		texts = append(missing.Sorted().Strings(), texts...)
		return status.NotProgrammed(status.ReasonNotApplied, strings.Join(texts, "; "))
	}
	return status.Programmed(strings.Join(texts, "; "))
}

// Applying returns the conditions for a changed Service before its first write to the
// cloud: its conditions are about another configuration.
func Applying(draft *reconcile.Draft) []status.Condition {
	return []status.Condition{Accepted(draft), status.Applying("the change of the Service is being applied")}
}

// Settled reports whether a condition Programmed is about a load balancer that has
// everything that it can have.
func Settled(c status.Condition) bool {
	return c.Status == metav1.ConditionTrue || c.Reason == status.ReasonNotApplied
}

// notAccepted says what serves while the Service as it is now was not accepted.
func notAccepted(result reconcile.Result) string {
	switch {
	case len(result.Serves) == 0:
		return "the Service was not accepted, and no load balancer exists for it"
	case len(result.Status.Ingress) == 0:
		return "the Service was not accepted, and its load balancer serves nothing yet"
	}
	return "the Service was not accepted; the existing load balancer keeps its last accepted configuration, and its backends follow the nodes"
}

// waitsFor returns InUse if every waiting step waits for a resource that is still in use.
func waitsFor(result reconcile.Result) status.Reason {
	reason := status.ReasonPending
	for _, r := range result.Report.Results {
		if r.State != engine.Waiting || r.Because != (plan.StepID{}) {
			continue
		}
		if !fault.Is(r.Outcome.Err, fault.InUse) {
			return status.ReasonPending
		}
		reason = status.ReasonInUse
	}
	return reason
}

// describeNoBackends returns a text if the load balancer has no backends.
func describeNoBackends(draft *reconcile.Draft) []string {
	if nodes := draft.Request.Backends.Nodes; draft.Want == nil || nodes.Len() > 0 || nodes.FilteredOut() {
		return nil
	}
	return []string{"no node is eligible as a backend, so nothing answers: nodes must be Ready, match the labels that the Service selects, and not carry the label node.kubernetes.io/exclude-from-external-load-balancers"}
}

// dryRun is the name of the policy that holds everything, as plan.DryRun has it.
const dryRun = "dry-run"

// Held is the condition of a Service with blocked steps. Steps that are blocked only with
// another one follow the causes.
func Held(held []plan.Blocked) status.Condition {
	isCause := func(b plan.Blocked) bool { return !b.FollowsOther() }
	causes := slices.DeleteFunc(slices.Clone(held), plan.Blocked.FollowsOther)
	causes = append(causes, slices.DeleteFunc(slices.Clone(held), isCause)...)
	return status.NotProgrammed(heldReason(causes[0]), HeldText(causes)+suggestUnblocking(causes[0]))
}

// HeldEvent is an event about a step that is kept from being done: which step, why, and
// what helps.
func HeldEvent(reason status.EventReason, h plan.Blocked) Event {
	return Event{Reason: reason, Text: h.Step.ID.String() + ": " + h.Why, Helps: suggestUnblocking(h)}
}

// heldReason names what keeps a step from being done.
func heldReason(h plan.Blocked) status.Reason {
	switch h.By {
	case plan.ByPolicy:
		return status.ReasonHeldByPolicy
	case plan.ByProof:
		return status.ReasonNotOurs
	case plan.BySlot:
		return status.ReasonSlotTaken
	case plan.ByFilter:
		return status.ReasonNoMatchingNodes
	case plan.ByBusy, plan.ByIncomplete:
		return status.ReasonPending
	case plan.ByFailed:
		return status.ReasonCloudError
	case plan.ByRefused:
		return status.ReasonRefused
	default:
		return status.ReasonHeldForSafety
	}
}

// suggestUnblocking returns the next step for the user or operator for a blocked step. It
// is appended to the cause.
func suggestUnblocking(h plan.Blocked) string {
	if h.Policy == dryRun {
		return "; start the controller without --dry-run to have it done"
	}
	return suggestRemedy(heldReason(h))
}

// StaleFinalizers returns the provider's finalizers that the current load balancer does
// not need: they belong to a former kind of it, of which nothing is left after a clean
// run. After any other run it returns none.
func StaleFinalizers(result reconcile.Result, outputs providers.Outputs) []string {
	if !result.Clean || result.PresenceOnly || len(result.Status.Ingress) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(outputs.Finalizers), func(f string) bool { return slices.Contains(result.Status.Finalizers, f) })
}
