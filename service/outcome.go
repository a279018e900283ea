package service

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/verdict"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// wanted is what the Service is to carry after a run.
func (c *Controller) wanted(svc *corev1.Service, result reconcile.Result) status.Want {
	draft := result.Draft
	want := status.Want{Now: c.options.Clock.Now(), Conditions: []status.Condition{verdict.Accepted(draft)}}
	if !draft.Untouched {
		want = tellAddresses(want, result.Status)
		want.DropFinalizers = verdict.StaleFinalizers(result, c.reconciler.Outputs())
	}
	want.Conditions = append(want.Conditions, verdict.Programmed(result))
	if old, waits := verdict.Replacing(result); waits {
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

// tellAddresses takes the provider's answer over, unless it knows no address:
// what clients use is taken away only when the load balancer is known to be gone.
func tellAddresses(want status.Want, answer status.Result) status.Want {
	if len(answer.Ingress) == 0 {
		want.Conditions = append(want.Conditions, answer.Conditions...)
		return want
	}
	return want.With(answer)
}

// tellUnread says on a Service that could not be planned why it has no load
// balancer yet.
func (c *Controller) tellUnread(ctx context.Context, svc *corev1.Service, cause error) {
	cond, news := verdict.Unread(svc, cause)
	if !news {
		return
	}
	if err := c.patch(ctx, svc, status.Want{Now: c.options.Clock.Now(), Conditions: []status.Condition{cond}}); err != nil && !overtaken(err) {
		klog.FromContext(ctx).Error(err, "status")
	}
}

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
		klog.FromContext(ctx).Info("steps failed", logkey.Err, verdict.OneLine(result.Err))
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
