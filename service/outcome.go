package service

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// wanted is what the Service is to carry after a run.
func (c *Controller) wanted(svc *corev1.Service, result reconcile.Result) status.Want {
	draft := result.Draft
	want := status.Want{Now: c.options.Clock.Now(), Conditions: []status.Condition{accepted(draft)}}
	if !draft.Untouched {
		want = tellAddresses(want, result.Status)
		if result.Clean && !result.Glimpsed {
			want.DropFinalizers = stale(result.Status, c.reconciler.Outputs())
		}
	}
	want.Conditions = append(want.Conditions, programmed(result))
	if old, waits := replacing(result); waits {
		want.Conditions = append(want.Conditions, status.Replacing("both load balancers serve; "+old+" goes a minute after the switch"))
	} else {
		want.DropConditions = append(want.DropConditions, status.TypeReplacing)
	}
	digest, _, _ := ParseApplied(svc)
	if record, done := result.Record(); done {
		want.Annotations = map[string]string{status.AnnotationApplied: c.options.Classes.applied(svc, record)}
	} else if digest != "" && len(result.Report.Results) > 0 {
		// Halfway between two inputs: the old one is no longer what the cloud has,
		// so that going back to it after a restart must not count as clean.
		want.Annotations = map[string]string{status.AnnotationApplied: c.options.Classes.applied(svc, "")}
	}
	return want
}

// stale are the provider's finalizers that the load balancer as it is now does not
// have: another kind of it had them, and all of that is gone after a clean run.
func stale(answer status.Result, outputs providers.Outputs) []string {
	if len(answer.Ingress) == 0 {
		return nil // nothing is known to serve
	}
	return slices.DeleteFunc(slices.Clone(outputs.Finalizers), func(f string) bool { return slices.Contains(answer.Finalizers, f) })
}

// tellAddresses takes the provider's answer over, unless it knows no address:
// what clients use is taken away only when the load balancer is known to be gone.
func tellAddresses(want status.Want, answer status.Result) status.Want {
	if len(answer.Ingress) == 0 {
		want.Conditions = append(want.Conditions, answer.Conditions...)
		return want
	}
	return want.With(answer)
}

// accepted is the condition on what the user wrote.
func accepted(draft *reconcile.Draft) status.Condition {
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

// programmed is the condition on what the cloud has.
func programmed(result reconcile.Result) status.Condition {
	draft := result.Draft
	switch {
	case draft.Untouched:
		return status.NotProgrammed(status.ReasonNotAccepted, "nothing was changed, because the Service was not accepted")
	case result.Err != nil:
		return status.NotProgrammed(reasonFor(result.Err), oneLine(result.Err))
	case result.Kept():
		return status.Programmed("as another controller left it, but for " + heldText(draft.Plan.Held))
	case len(draft.Plan.Held) > 0:
		return heldCondition(draft.Plan.Held)
	case draft.Problems.Errors():
		return status.NotProgrammed(status.ReasonNotAccepted, "the last accepted state is kept up; the Service as it is now was not accepted")
	case result.Waits && !onlyGates(result):
		return status.NotProgrammed(status.ReasonPending, "waiting for the cloud: "+obstacles(result))
	case result.Again:
		return status.NotProgrammed(status.ReasonPending, "going on: what was done now makes more to be done")
	}
	return status.Programmed(strings.Join(result.Manual, "; "))
}

// heldCondition says who keeps steps from being done; the first one names it.
func heldCondition(held []plan.Held) status.Condition {
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
	return status.NotProgrammed(reason, heldText(held))
}

func heldText(held []plan.Held) string {
	var text []string
	for _, h := range held {
		text = append(text, h.Step.ID.String()+": "+h.Why)
	}
	return strings.Join(text, "; ")
}

// tellUnread says on a Service that could not be planned why it has no load
// balancer yet. What was programmed before still is, as far as anybody knows.
func (c *Controller) tellUnread(ctx context.Context, svc *corev1.Service, cause error) {
	for _, cond := range svc.Status.Conditions {
		if cond.Type == status.TypeProgrammed && cond.Status == metav1.ConditionTrue {
			return
		}
	}
	want := status.Want{Now: c.options.Clock.Now(), Conditions: []status.Condition{status.NotProgrammed(reasonFor(cause), oneLine(cause))}}
	if err := c.patch(ctx, svc, want); err != nil && !overtaken(err) {
		klog.FromContext(ctx).Error(err, "status")
	}
}

// reasonFor names the first failure by what it means.
func reasonFor(err error) status.Reason {
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

// replacing tells whether an old load balancer still serves beside a new one.
func replacing(result reconcile.Result) (old string, waits bool) {
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && !r.Step.Gate.IsZero() {
			return r.Step.ID.Key.String(), true
		}
	}
	return "", false
}

// onlyGates tells whether nothing is waited for but the time after a switch.
func onlyGates(result reconcile.Result) bool {
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && r.Step.Gate.IsZero() {
			return false
		}
	}
	return true
}

// obstacles says what the waiting steps of a result wait for.
func obstacles(result reconcile.Result) string {
	var text []string
	for _, r := range result.Report.Results {
		if r.State != engine.Waiting || r.Because != (plan.StepID{}) {
			continue
		}
		line := r.Step.ID.String()
		if r.Outcome.Err != nil {
			line = oneLine(r.Outcome.Err)
		}
		text = append(text, line)
	}
	if result.Err != nil {
		text = append(text, oneLine(result.Err))
	}
	for _, h := range result.Draft.Plan.Held {
		text = append(text, h.Step.ID.String()+": "+h.Why)
	}
	return strings.Join(text, "; ")
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// Waits without a time of their own grow from 5 s to a minute.
const (
	minWait = 5 * time.Second
	maxWait = time.Minute
)

// requeue decides when to look at the Service again.
func (c *Controller) requeue(ctx context.Context, key string, result reconcile.Result) {
	old := c.seen.get(key)
	if !result.Waits && !result.Again {
		old.waits, old.since = 0, time.Time{}
		c.seen.put(key, old)
	}
	switch {
	case result.Err != nil && fault.Is(result.Err, fault.Throttled):
		c.queue.AddAfter(key, pause(result.Err))
	case result.Err != nil && fault.Is(result.Err, fault.Invalid):
		// Only a change of the Service can help; look again now and then all
		// the same, since what it refers to may appear.
		c.queue.Forget(key)
		c.queue.AddAfter(key, maxBackoff)
	case result.Err != nil:
		klog.FromContext(ctx).Info("steps failed", logkey.Err, oneLine(result.Err))
		c.queue.AddRateLimited(key)
	case result.Again:
		c.queue.Forget(key)
		c.queue.order.note(key, byRetry)
		c.queue.AddAfter(key, c.nextStep(key))
	case result.Waits:
		c.queue.Forget(key)
		c.queue.order.note(key, byRetry)
		c.queue.AddAfter(key, c.nextWait(key, result.Wait))
	case result.Draft.Obstructed():
		c.queue.Forget(key)
		c.queue.AddAfter(key, maxBackoff)
	default:
		c.queue.Forget(key)
		c.queue.AddAfter(key, c.reconciler.NextRead(result.Draft.Owner))
	}
}

// nextWait is as long as was waited so far, within bounds. It does not count how
// often: a Service is looked at for other reasons as well, our own write of its
// status among them.
func (c *Controller) nextWait(key string, asked time.Duration) time.Duration {
	old, now := c.seen.get(key), c.options.Clock.Now()
	if old.since.IsZero() {
		old.since = now
		c.seen.put(key, old)
	}
	if asked > 0 {
		return asked
	}
	return min(max(now.Sub(old.since), minWait), maxWait)
}

// nextStep is how long to wait before going on with a change that takes several
// plans: next to nothing at first, longer if it never ends.
func (c *Controller) nextStep(key string) time.Duration {
	old := c.seen.get(key)
	old.waits++
	c.seen.put(key, old)
	return min(10*time.Millisecond<<min(old.waits, 13), maxWait)
}

// pause is how long a throttled Service stays away: up to twice what was asked
// for, each another time, so that not all come back together.
func pause(err error) time.Duration {
	return wait.Jitter(max(fault.After(err), minBackoff), 1)
}

// logPlan writes one line per step about to be done.
func logPlan(ctx context.Context, p plan.Plan) {
	log := klog.FromContext(ctx)
	for _, s := range p.Steps {
		log.V(1).Info("step", logkey.Action, s.ID.Action, logkey.Resource, s.ID.Key.String(), logkey.Part, s.ID.Part, logkey.Reason, s.Reason)
	}
	for _, h := range p.Held {
		log.V(1).Info("held", logkey.Step, h.Step.ID.String(), logkey.By, h.By, logkey.Why, h.Why)
	}
}
