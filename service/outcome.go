package service

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// wanted is what the Service is to carry after a run. What is quiet does not
// change whether its load balancer is as wanted.
func (v *visit) wanted(result reconcile.Result, quiet bool) status.Want {
	want := v.options.Classes.Marks(v.svc, result, v.reconciler.Outputs())
	want.Annotations = v.gateMarks(want.Annotations, result)
	hold, gone := conditions.Standing(result)
	want.Now, want.Generation = v.options.Clock.Now(), v.svc.Generation
	want.Conditions, want.DropConditions = append(hold, want.Conditions...), append(want.DropConditions, gone...)
	quiet = quiet && !result.Draft.Vanished()
	if programmed := conditions.Programmed(result); !quiet || conditions.Settled(programmed) {
		want.Conditions = append(want.Conditions, programmed)
	}
	return want
}

// Marks returns what a Service is to carry of a run by which a later process, or a
// plan, tells what was made: addresses, finalizers, what the cloud writes besides, and
// the record of what was applied.
func (c Classes) Marks(svc *corev1.Service, result reconcile.Result, outputs providers.Outputs) status.Want {
	var want status.Want
	if result.Draft.Intent != reconcile.LeaveAlone {
		want = tellAddresses(want, result)
		want.DropFinalizers = conditions.StaleFinalizers(result, outputs)
		if class, _ := classOf(svc); c.keptOfficially(svc, class, want.AddFinalizers) {
			want.DropFinalizers = append(want.DropFinalizers, c.finalizers(svc)...)
		}
	}
	if digest, changed := appliedDigest(result); changed {
		want.Annotations = map[string]string{status.AnnotationApplied: NewRecord(svc, digest, c.Installation).String()}
	}
	return want
}

// appliedDigest returns the digest that the Service records of a run for later
// processes; false if it stays unchanged.
func appliedDigest(result reconcile.Result) (digest string, changed bool) {
	draft := result.Draft
	if draft.Intent == reconcile.LeaveAlone && (draft.Job.NeverProvisioned || draft.Job.NothingMade) {
		digest, changed = nothingMade, true // nothing shared waits for it
	}
	if record, done := result.Record(); done {
		digest, changed = record, true
	}
	return digest, changed
}

// tellAddresses adds the provider's answer, unless it knows no address: what clients use is
// removed only when the load balancer is known to be gone. Early annotations are written all the
// same. Addresses that are only kept are not written: another controller may have written them, or
// others meanwhile.
func tellAddresses(want status.Want, result reconcile.Result) status.Want {
	answer := result.Status
	if len(answer.Ingress) == 0 {
		want.Conditions, want.Outputs = append(want.Conditions, answer.Conditions...), answer.Early
		return want
	}
	if want = want.With(answer); result.Addresses != reconcile.FoundAddresses {
		want.LoadBalancer = nil
	}
	return want
}

// follows reports whether the draft changes nothing that a user has requested: the
// specification was applied and serves, and only nodes or pods have changed, or the run
// is a drift check.
func (v *visit) follows(draft *reconcile.Draft) bool {
	return draft != nil && draft.Asked != "" && v.record.Digest == draft.Asked && v.programmed() &&
		!draft.Problems.Errors() && draft.Intent != reconcile.LeaveAlone
}

// programmed reports whether the last run left nothing to do for the load balancer, as the
// Service carries it.
func (v *visit) programmed() bool {
	return slices.ContainsFunc(v.svc.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == status.TypeProgrammed && conditions.Settled(status.Condition{Status: c.Status, Reason: status.Reason(c.Reason)})
	})
}

// keepsUp reports whether a run that only follows backends need not be reported: it is
// done, or its obstacle is transient and has not lasted long.
func (v *visit) keepsUp(result reconcile.Result, follows bool) bool {
	if result.Clean || !follows {
		v.known.behind = time.Time{}
		return follows
	}
	return v.lagging() && resolvesItself(result)
}

// lagging measures how long backends have not followed the nodes, and reports whether
// that is short enough to stay unreported.
func (v *visit) lagging() bool {
	now := v.options.Clock.Now()
	if v.known.behind.IsZero() {
		v.known.behind = now
	}
	return now.Sub(v.known.behind) < longWait
}

// resolvesItself reports whether everything that keeps a run from completion resolves
// by itself.
func resolvesItself(result reconcile.Result) bool {
	for _, err := range runFailures(result) {
		if !isTransient(err) {
			return false
		}
	}
	return !slices.ContainsFunc(result.Draft.Plan.Blocked, func(h plan.Blocked) bool { return h.By != plan.ByLedger })
}

// isTransient reports whether a failure resolves by itself.
func isTransient(err error) bool {
	switch fault.Of(err) {
	case fault.Throttled, fault.Unavailable, fault.Conflict, fault.Ambiguous, fault.Pending, fault.InUse:
		return true
	default:
		return false
	}
}

// runFailures lists the failures of a run, each as an error of its own.
func runFailures(result reconcile.Result) []error {
	var out []error
	for _, r := range result.Report.Results {
		if r.State == engine.Failed {
			out = append(out, r.Outcome.Err)
		}
		for _, m := range r.Outcome.Refused {
			out = append(out, m.Err)
		}
	}
	if len(out) == 0 && result.Err != nil {
		out = append(out, result.Err)
	}
	return out
}

// reportUnread says on a Service that could not be planned why it has no load balancer
// yet, or why it does not follow its nodes any more.
func (v *visit) reportUnread(ctx context.Context, draft *reconcile.Draft, cause error) {
	follows := v.follows(draft)
	late := follows && !v.lagging()
	checks := follows && draft.OnlyChecks()
	if follows && isTransient(cause) && (!late || checks && fault.Is(cause, fault.Throttled)) {
		attemptOf(ctx).err = cause
		klog.FromContext(ctx).Info("not read", logkey.Err, conditions.OneLine(cause))
		v.queue.GoOn(v.key, v.pause(cause), v.turn.Urgency)
		return
	}
	cond, news := conditions.Unread(v.svc, v.changed(draft), cause)
	if !news && late && !checks {
		cond, news = conditions.Failed(cause), true
	}
	if news {
		v.writeCondition(ctx, cond)
	}
	v.retry(ctx, cause)
}

// changed reports whether the Service asks for something else than what was applied
// last. It is unknown, and counts as unchanged, while the draft did not get so far.
func (v *visit) changed(draft *reconcile.Draft) bool {
	return draft != nil && draft.Asked != "" && v.record.Digest != draft.Asked
}

// retry backs off after a fault that left no result.
func (v *visit) retry(ctx context.Context, err error) {
	a := attemptOf(ctx)
	a.err, a.again = err, isOutdated(err)
	if a.again && v.known.failures < mostOvertaken || ctx.Err() != nil { // the Service has changed, or the program stops
		v.queue.GoOn(v.key, v.pause(err), byRetry)
		return
	}
	a.again = false
	klog.FromContext(ctx).Error(err, "sync")
	v.newTalk().failed(err).keep()
	v.queue.GoOn(v.key, v.pause(err), byRetry)
}

// mostOvertaken is how often in a row a Service may change while it is written to
// before that counts as a failure.
const mostOvertaken = 4

// isOutdated reports whether a write failed because the Service has changed since
// it was read: deleted, recreated under the same name, turned into another type, or being
// deleted. The API server calls the last three invalid, and names the field.
// Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go and
// staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go.
func isOutdated(err error) bool {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return true
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return false
	}
	causes := status.Status().Details.Causes
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool {
		return c.Field != "metadata.uid" && c.Field != "metadata.finalizers" && c.Field != "status.loadBalancer.ingress"
	})
}
