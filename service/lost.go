package service

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// lost is a Service that was deleted, or ceased to be of type LoadBalancer, without a
// release: its finalizer was removed from outside.
type lost struct {
	svc   *corev1.Service // as it was served last
	tries int
}

// mostTries is how often a lost Service is released in vain before it is left to
// `berth orphans`: about an hour.
const mostTries = 15

// noticeLoss distinguishes Services that were deleted after their release from lost
// ones. now is the present Service of that name; nil: there is none.
func (c *Controller) noticeLoss(key string, known *remembered, now *corev1.Service) {
	old := known.served
	if old == nil {
		return
	}
	switch {
	case now != nil && now.UID == old.UID && (now.Spec.Type == corev1.ServiceTypeLoadBalancer || c.bound(now)):
		return // it is served, or released, or the controller that it is bound to serves it
	case now == nil, now.UID != old.UID, now.DeletionTimestamp != nil, !c.bound(now):
		known.lost = append(known.lost, lost{svc: old})
	}
	known.served = nil
	if c.reconciler.MayBeReleased(old) {
		klog.Background().Info("Service deleted; a previous process may have released it", logkey.Service, key)
		return
	}
	c.options.Watchers.Metrics.Orphaned()
	c.recorder.Event(old, status.EventFinalizerRemoved.Type(), string(status.EventFinalizerRemoved), status.EventMessage(
		"the finalizer was taken off before the load balancer was deleted; it is deleted now, by what the controller remembers"))
	klog.Background().Info("Service deleted without a release; its resources are deleted as far as they are remembered", logkey.Service, key)
}

// leavePredecessor clears the desired state of a previous Service of the same name, unless
// its resources are still to be deleted.
func (c *Controller) leavePredecessor(known *remembered, now *corev1.Service) {
	if now == nil || known.owner.UID == string(now.UID) {
		return
	}
	if !known.isLost(known.owner) {
		c.reconciler.Forget(known.owner)
	}
}

// isLost reports whether a Service is one of the lost ones.
func (r *remembered) isLost(o stack.Owner) bool {
	return slices.ContainsFunc(r.lost, func(l lost) bool { return reconcile.OwnerOf(l.svc) == o })
}

// bound reports whether a Service carries a finalizer of a controller.
func (c *Controller) bound(svc *corev1.Service) bool {
	return c.options.Classes.heldOfficially(svc) || slices.Contains(svc.Finalizers, OwnFinalizer) || slices.Contains(svc.Finalizers, StockFinalizer)
}

// releaseLost deletes what lost Services have left in the cloud.
func (c *Controller) releaseLost(ctx context.Context, key string, known *remembered) {
	log := klog.FromContext(ctx)
	known.lost = slices.DeleteFunc(known.lost, func(lost) bool { return c.options.DryRun })
	var left []lost
	for _, l := range known.lost {
		owner := reconcile.OwnerOf(l.svc)
		result, err := c.releaseUnbound(ctx, l.svc)
		l.tries++
		switch {
		case err == nil && result.Released:
			log.Info("what a lost Service had is deleted")
		case l.tries >= mostTries, err == nil && len(result.Draft.Plan.Blocked) > 0 && !result.Waits:
			log.Error(errors.Join(err, result.Err), "what a lost Service had stays in the cloud; berth orphans lists it")
			c.reconciler.Forget(owner)
		default:
			if problem := errors.Join(err, result.Err); problem != nil {
				log.Error(problem, "what a lost Service had is not deleted yet")
			}
			left = append(left, l)
		}
	}
	known.lost = left
	if len(left) > 0 {
		c.queue.AddAfter(key, backoffAfter(left[0].tries), byRetry)
	}
}

// releaseUnbound deletes what a Service has that no finalizer holds.
func (c *Controller) releaseUnbound(ctx context.Context, svc *corev1.Service) (result reconcile.Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(ctx).Error(nil, "panic", logkey.Cause, cause, logkey.Stack, string(debug.Stack()))
			c.options.Watchers.Metrics.Panicked()
			err = errors.New("panic")
		}
	}()
	draft, err := c.reconciler.Draft(ctx, releaseJob(svc, c.reconciler.Outputs()))
	if err != nil {
		return reconcile.Result{}, err
	}
	logPlan(ctx, draft.Plan)
	return c.reconciler.Run(ctx, draft, plan.OpenGates), nil
}

// release ends everything that the Service owns in the cloud, then lets it go.
// elsewhere says why another controller serves it; empty: none does.
func (v *visit) release(ctx context.Context, elsewhere string) {
	draft, err := v.draft(ctx, releaseJob(v.svc, v.reconciler.Outputs()))
	// It wants nothing any more, whatever becomes of the attempt.
	v.markKnown(v.key)
	switch {
	case errors.Is(err, errOvertaken):
		attemptOf(ctx).err, attemptOf(ctx).again = err, true
		return
	case err != nil:
		if !v.options.Classes.isServedByOther(v.svc, elsewhere != "") && ctx.Err() == nil {
			v.writeCondition(ctx, deletingCondition(conditions.Steady(err)))
		}
		v.retry(ctx, err)
		return
	}
	if len(draft.Plan.Steps) > 0 {
		v.talk.say(status.EventDeleting, "Deleting load balancer")
	}
	logPlan(ctx, draft.Plan)
	if err := v.beginRelease(ctx, draft, elsewhere != ""); err != nil {
		v.retry(ctx, err)
		return
	}
	result := v.perform(ctx, draft, plan.OpenGates)
	v.talk.result(result, false)
	if !result.Released {
		v.tellReleasing(ctx, result)
		v.talk.keep()
		v.requeue(ctx, result, false)
		return
	}
	v.released(ctx, elsewhere)
}

// beginRelease writes what the first step of a release makes untrue: the record, and that the
// load balancer is programmed. The condition of a Service that has moved belongs to the
// controller that serves it now.
func (v *visit) beginRelease(ctx context.Context, draft *reconcile.Draft, elsewhere bool) error {
	want, _ := Outdated(v.svc, draft, v.options.Classes.Installation)
	want.Now = v.options.Clock.Now()
	if len(draft.Plan.Steps) > 0 && !v.options.Classes.isServedByOther(v.svc, elsewhere) {
		want.Conditions = []status.Condition{deletingCondition("")}
	}
	return v.patchSeen(ctx, want)
}

// deletingCondition returns the condition of a Service whose load balancer is being deleted. text says what
// delays that; empty: nothing does.
func deletingCondition(text string) status.Condition {
	message := "the load balancer is being deleted"
	if text != "" {
		message += ": " + text
	}
	return status.NotProgrammed(status.ReasonDeleting, message)
}

// released removes our marks from the Service, unless it has changed since: it may request
// a load balancer again, and another leader may have created one.
func (v *visit) released(ctx context.Context, elsewhere string) {
	v.known.served = nil
	want := v.options.Classes.releasedWant(v.svc, v.reconciler.Outputs(), release{
		now: v.options.Clock.Now(), elsewhere: elsewhere != "", written: v.known.written,
	})
	if err := v.patchSeen(ctx, want); err != nil && !apierrors.IsNotFound(err) {
		if !isOutdated(err) && ctx.Err() == nil {
			v.writeReleasedStatus(ctx, want.LoadBalancer, elsewhere != "", err)
		}
		v.retry(ctx, err)
		return
	}
	v.talk.say(status.EventDeleted, "Deleted load balancer")
	v.wakeStalled(v.key) // a port or an address may have become free
	if elsewhere != "" {
		v.known.written = nil
		v.talk.say(status.EventServedElsewhere, elsewhere).keep()
		return
	}
	v.forget(v.key)
}

// writeReleasedStatus writes the status of a Service whose load balancer is deleted, while the
// API server refuses the patch that removes the finalizer as well.
func (v *visit) writeReleasedStatus(ctx context.Context, addresses *corev1.LoadBalancerStatus, elsewhere bool, refusal error) {
	want := status.Want{Now: v.options.Clock.Now(), LoadBalancer: addresses}
	if !v.options.Classes.isServedByOther(v.svc, elsewhere) {
		want.Conditions = []status.Condition{status.NotProgrammed(status.ReasonDeleting,
			"the load balancer is deleted, but the finalizer could not be removed; this is retried: "+conditions.Steady(refusal))}
	}
	if err := v.patchSeen(ctx, want); err != nil && !isOutdated(err) {
		klog.FromContext(ctx).Error(err, "status")
	}
}

// tellReleasing keeps the condition of a Service that is on its way out true.
func (v *visit) tellReleasing(ctx context.Context, result reconcile.Result) {
	cond := deletingCondition(conditions.Obstacles(result))
	if held := result.Draft.Plan.Blocked; len(held) > 0 && !result.Waits {
		cond = conditions.Held(held)
	}
	v.writeCondition(ctx, cond)
}
