package service

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/verdict"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// everything selects every object of a lister.
var everything = labels.Everything()

// handle works on one key: the one place where a Service's way begins.
func (c *Controller) handle(ctx context.Context, key string) {
	log := klog.FromContext(ctx).WithValues(logkey.Service, key)
	ctx = klog.NewContext(ctx, log)
	svc, err := c.lookup(key)
	if err != nil {
		log.Error(err, "the key of a Service")
		c.queue.AddRateLimited(key)
		return
	}
	if svc == nil {
		c.forget(key)
		return
	}
	ctx, end := c.observe(ctx, svc)
	defer end()
	c.noticeSuccessor(key, svc)
	switch claim := c.options.Classes.Claim(svc); claim {
	case Ignored:
		c.forget(key)
		return
	case Disowned:
		c.newTalk(key, svc).say(status.EventHeldForSafety, "this controller no longer serves Services without a class; the load balancer stays until --release-unclaimed is given").keep()
		c.unknown(key, svc)
		return
	case Released:
		c.release(ctx, key, svc)
	case Served:
		c.serve(ctx, key, svc)
	}
}

func (c *Controller) lookup(key string) (*corev1.Service, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, err
	}
	svc, err := c.services.Services(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return svc, err
}

// forget drops what is remembered of a Service that is gone or not ours.
func (c *Controller) forget(key string) {
	if old := c.seen.get(key); old.owner.UID != "" {
		c.reconciler.Forget(old.owner)
		c.seen.drop(key)
	}
	c.queue.Forget(key)
	c.settled(key)
}

// settled counts a Service of the start as known.
func (c *Controller) settled(key string) {
	if c.start.planned(key) {
		c.allKnown()
	}
}

// unknown counts a Service of the start as known although nobody knows what it
// wants: it might want anything that is shared, and must not stop all others.
func (c *Controller) unknown(key string, svc *corev1.Service) {
	c.reconciler.Shadow(reconcile.OwnerOf(svc))
	c.settled(key)
}

// noticeSuccessor drops the memory of a Service whose name now belongs to
// another one.
func (c *Controller) noticeSuccessor(key string, svc *corev1.Service) {
	old := c.seen.get(key)
	now := reconcile.OwnerOf(svc)
	if old.owner.UID != "" && old.owner != now {
		c.reconciler.Forget(old.owner)
		old = remembered{}
	}
	old.owner = now
	c.seen.put(key, old)
}

// serve brings the cloud to what the Service asks for.
func (c *Controller) serve(ctx context.Context, key string, svc *corev1.Service) {
	if choice := c.reconciler.Choose(svc); choice.Elsewhere != "" {
		c.elsewhere(ctx, key, svc, choice.Elsewhere)
		return
	}
	namespace, err := c.namespaces.of(svc)
	if err != nil {
		c.unknown(key, svc)
		c.retry(ctx, key, svc, err)
		return
	}
	svc, fresh, err := c.claimFresh(ctx, svc)
	if err != nil {
		c.unknown(key, svc)
		c.retry(ctx, key, svc, err)
		return
	}
	digest, _, known := ParseApplied(svc)
	draft, err := c.reconciler.Draft(ctx, reconcile.Job{Service: svc, Applied: digest, Fresh: fresh, Foreign: !known, Slices: c.endpoints.of(svc), NamespaceLabels: namespace})
	if err != nil {
		c.unknown(key, svc)
		c.tellUnread(ctx, svc, err)
		c.retry(ctx, key, svc, err)
		return
	}
	c.settled(key)
	talk := c.newTalk(key, svc)
	talk.problems(draft)
	talk.plan(draft)
	logPlan(ctx, draft.Plan)
	result := c.perform(ctx, draft, c.gates(svc))
	talk.result(result)
	want := c.wanted(svc, result)
	if err := c.patch(ctx, svc, want); err != nil {
		talk.keep()
		c.retry(ctx, key, svc, err)
		return
	}
	talk.keep()
	c.requeue(ctx, key, result)
}

// elsewhere leaves a Service alone that asks for another controller. If it was
// ours before, what we made goes: the user has moved it.
func (c *Controller) elsewhere(ctx context.Context, key string, svc *corev1.Service, why string) {
	if _, _, served := ParseApplied(svc); served {
		c.release(ctx, key, svc)
		return
	}
	c.newTalk(key, svc).say(status.EventServedElsewhere, why).keep()
	c.queue.Forget(key)
	c.settled(key)
}

// claim writes our finalizer before anything is made in the cloud, and with it
// the class: the API server clears that when the type of the Service changes,
// and whose the finalizer is must be known then. A finalizer of ours from before
// the class changed goes: later nobody would know that it was ours.
// unchanged makes the write fail with a conflict if the Service is not any more as
// it was seen.
func (c *Controller) claim(ctx context.Context, svc *corev1.Service, unchanged bool) (*corev1.Service, error) {
	finalizer := FinalizerFor(svc)
	stray := slices.DeleteFunc(c.options.Classes.finalizers(svc), func(f string) bool { return f == finalizer })
	want := status.Want{Now: c.options.Clock.Now(), AddFinalizers: []string{finalizer}, DropFinalizers: stray}
	if _, _, known := ParseApplied(svc); !known && !slices.Contains(svc.Finalizers, finalizer) {
		want.Annotations = map[string]string{status.AnnotationApplied: c.options.Classes.applied(svc, "")}
	}
	body, differs := status.Patch(svc, want)
	if !differs {
		return svc, nil
	}
	if unchanged {
		body = asSeen(body, svc.ResourceVersion)
	}
	updated, err := c.client.CoreV1().Services(svc.Namespace).Patch(ctx, svc.Name, status.PatchType, body, metav1.PatchOptions{}, status.Subresource)
	if err != nil {
		return svc, err
	}
	return updated, nil
}

// release ends everything that the Service owns in the cloud, then lets it go.
func (c *Controller) release(ctx context.Context, key string, svc *corev1.Service) {
	draft, err := c.reconciler.Draft(ctx, reconcile.Job{Service: svc, Release: true})
	if err != nil {
		c.retry(ctx, key, svc, err)
		return
	}
	c.settled(key)
	talk := c.newTalk(key, svc)
	if len(draft.Plan.Steps) > 0 {
		talk.say(status.EventDeleting, "Deleting load balancer")
	}
	logPlan(ctx, draft.Plan)
	result := c.perform(ctx, draft, openGates)
	talk.result(result)
	if !result.Released {
		c.tellReleasing(ctx, svc, result)
		talk.keep()
		c.requeue(ctx, key, result)
		return
	}
	want := c.options.Classes.releasedWant(svc, c.reconciler.Outputs(), c.options.Clock.Now())
	if err := c.patch(ctx, svc, want); err != nil && !apierrors.IsNotFound(err) {
		c.retry(ctx, key, svc, err)
		return
	}
	// What was said is remembered until the Service is seen without our
	// finalizer: until then it may come once more, as it was.
	talk.say(status.EventDeleted, "Deleted load balancer").keep()
	c.queue.Forget(key)
}

// tellReleasing keeps the condition of a Service that is on its way out true.
func (c *Controller) tellReleasing(ctx context.Context, svc *corev1.Service, result reconcile.Result) {
	cond := status.NotProgrammed(status.ReasonDeleting, "the load balancer is being deleted")
	if text := verdict.Obstacles(result); text != "" {
		cond.Message = "the load balancer is being deleted: " + text
	}
	if held := result.Draft.Plan.Held; len(held) > 0 && !result.Waits {
		cond = verdict.Held(held)
	}
	if err := c.patch(ctx, svc, status.Want{Now: c.options.Clock.Now(), Conditions: []status.Condition{cond}}); err != nil && !apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Error(err, "status")
	}
}

func (c *Controller) patch(ctx context.Context, svc *corev1.Service, want status.Want) error {
	body, differs := status.Patch(svc, want)
	if !differs {
		return nil
	}
	_, err := c.client.CoreV1().Services(svc.Namespace).Patch(ctx, svc.Name, status.PatchType, body, metav1.PatchOptions{}, status.Subresource)
	return err
}

// retry backs off after a fault that left no result.
func (c *Controller) retry(ctx context.Context, key string, svc *corev1.Service, err error) {
	a := noted(ctx)
	a.err, a.again = err, overtaken(err)
	if a.again || ctx.Err() != nil { // the Service has changed, or the program stops: nothing to tell
		c.queue.AddRateLimited(key)
		return
	}
	klog.FromContext(ctx).Error(err, "sync")
	c.newTalk(key, svc).say(status.EventSyncFailed, "Error syncing load balancer: "+verdict.Told(err)).keep()
	if fault.Is(err, fault.Throttled) {
		c.queue.AddAfter(key, pause(err))
		return
	}
	c.queue.AddRateLimited(key)
}

// overtaken tells whether a write failed because the Service has changed since
// it was read: gone, made anew under the same name (which the API server calls
// invalid, since a patch names the UID), or turned into another type.
func overtaken(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err)
}

// gates opens what waits for the switch from one load balancer to another: the
// time counts from when the condition says that both serve.
func (c *Controller) gates(svc *corev1.Service) func(plan.Gate) time.Duration {
	return func(g plan.Gate) time.Duration {
		for _, cond := range svc.Status.Conditions {
			if cond.Type == status.TypeReplacing && cond.Status == metav1.ConditionTrue {
				return cond.LastTransitionTime.Add(g.After).Sub(c.options.Clock.Now())
			}
		}
		return g.After
	}
}

// openGates is for a release: there is no new load balancer to switch to.
func openGates(plan.Gate) time.Duration { return 0 }
