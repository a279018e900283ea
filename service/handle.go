package service

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// everything selects every object of a lister.
var everything = labels.Everything()

// visit is one reconcile of one Service.
type visit struct {
	*Controller
	key      string
	turn     kit.Turn
	svc      *corev1.Service // replaced by the answer to every write
	known    *remembered
	record   Record // on the Service
	recorded bool   // it exists
	talk     *talk
}

// handle reconciles one key: the only entry point.
func (c *Controller) handle(ctx context.Context, key string, turn kit.Turn) {
	log := klog.FromContext(ctx).WithValues(logkey.Service, key)
	ctx = klog.NewContext(ctx, log)
	if err := c.fenced(); err != nil {
		log.Info("not handled", logkey.Err, err.Error())
		c.queue.AddAfter(key, fenceWait, byRetry)
		return
	}
	svc, err := c.lookup(key)
	if err != nil {
		log.Error(err, "the key of a Service")
		return
	}
	if known := c.seen.get(key); known != nil {
		c.noticeLoss(key, known, svc)
		c.leavePredecessor(known, svc)
		c.releaseLost(ctx, key, known)
	}
	if svc == nil {
		known := c.seen.get(key) != nil
		if c.forget(key); known {
			c.wakeStalled(key) // there is room for another Service
		}
		return
	}
	v := c.visitOf(key, turn, svc)
	ctx, end := c.observe(ctx, svc)
	defer end()
	defer v.rescue(ctx)
	v.work(ctx)
}

// visitOf starts the reconcile of a Service.
func (c *Controller) visitOf(key string, turn kit.Turn, svc *corev1.Service) *visit {
	v := &visit{Controller: c, key: key, turn: turn, svc: svc, known: c.seen.entry(key)}
	v.record, v.recorded = RecordOf(svc)
	v.known.owner = reconcile.OwnerOf(svc)
	v.talk = v.newTalk()
	if turn.Urgency == byUser {
		v.known.failures = 0 // earlier failures may be resolved now
	}
	return v
}

// work acts on the claim on the Service.
func (v *visit) work(ctx context.Context) {
	if v.writes.inDoubt(v.key) {
		if err := v.refresh(ctx); err != nil {
			v.retry(ctx, err)
			return
		}
	}
	switch v.options.Classes.Claim(v.svc) {
	case Ignored:
		v.forget(v.key)
	case Disowned:
		v.talk.say(status.EventHeldForSafety, "this controller no longer serves Services without a class; the load balancer stays until --release-unclaimed is given").keep()
		v.unknown()
	case Released:
		v.release(ctx, "")
	case Served:
		v.serve(ctx)
	}
}

// lookup returns the current Service; nil if it does not exist. The informer may be
// older than our own last write.
func (c *Controller) lookup(key string) (*corev1.Service, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, err
	}
	svc, err := c.services.Services(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		c.writes.drop(key)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return c.writes.newest(key, svc), nil
}

// forget drops the caches of a Service that does not exist or is not ours.
func (c *Controller) forget(key string) {
	c.objects.forget(key)
	if known := c.seen.get(key); known != nil {
		if !known.isLost(known.owner) { // else its resources are still to be deleted
			c.reconciler.Forget(known.owner)
		}
		if len(known.lost) == 0 {
			c.seen.drop(key)
		}
	}
	c.markKnown(key)
}

// markKnown counts a Service of the start as known.
func (c *Controller) markKnown(key string) {
	if c.start.planned(key) {
		c.allKnown()
	}
}

// unknown counts a Service of the start as known although its desired state is not: it
// may desire any shared resource, and must not block the others.
func (v *visit) unknown() {
	v.reconciler.EnterUnknown(v.known.owner)
	v.markKnown(v.key)
}

// rescue confines a panic to the Service that triggers it.
func (v *visit) rescue(ctx context.Context) {
	cause := recover()
	if cause == nil {
		return
	}
	klog.FromContext(ctx).Error(nil, "panic", logkey.Cause, cause, logkey.Stack, string(debug.Stack()))
	v.options.Watchers.Metrics.Panicked()
	attemptOf(ctx).err = errors.New("panic")
	const text = "the controller has a defect that stops the work on this Service alone; its log has the details, and the work is tried again every 5 minutes"
	v.newTalk().say(status.EventSyncFailed, "Error syncing load balancer: "+text).keep()
	v.writeCondition(ctx, status.NotProgrammed(status.ReasonInternal, text))
	v.unknown()
	v.queue.GoOn(v.key, maxBackoff, byDrift)
}

// serve applies the desired state of the Service to the cloud.
func (v *visit) serve(ctx context.Context) {
	if choice := v.reconciler.Choose(v.svc); choice.Elsewhere != "" {
		v.elsewhere(ctx, choice.Elsewhere)
		return
	}
	namespace, err := v.namespaces.Of(v.svc)
	if err != nil {
		v.unknown()
		v.retry(ctx, err)
		return
	}
	fresh, err := v.claimFresh(ctx)
	if err != nil {
		v.unknown()
		v.retry(ctx, err)
		return
	}
	job := JobOf(v.svc, v.reconciler.Outputs())
	job.NeverProvisioned, job.NamespaceLabels = fresh, namespace
	job.Slices, job.Unmatched = v.endpoints.Of(v.svc)
	job.Objects = v.objects.objectsOf(ctx, v.key, v.reconciler.ListReferences(*job))
	look := v.wantsLook()
	draft, err := v.draft(ctx, *job)
	if err == nil && draft.Clean && look {
		v.reconciler.Recheck(draft.Owner)
		draft, err = v.draft(ctx, *job)
	}
	if err == nil && (look || !draft.Clean) {
		v.known.looked = v.options.Clock.Now()
	}
	switch {
	case errors.Is(err, errOvertaken):
		attemptOf(ctx).err, attemptOf(ctx).again = err, true
		return // it is queued with the higher priority
	case err != nil:
		v.unknown()
		v.reportUnread(ctx, draft, err)
		return
	}
	v.markKnown(v.key)
	v.run(ctx, draft)
}

// draft plans, unless a user's change arrives during the read.
func (v *visit) draft(ctx context.Context, job reconcile.Job) (*reconcile.Draft, error) {
	reading, done := v.queue.Interruptible(ctx, v.key)
	draft, err := v.reconciler.Draft(reading, job)
	done()
	if err != nil && errors.Is(context.Cause(reading), errOvertaken) {
		return draft, errOvertaken
	}
	return draft, err
}

// run performs a plan, and reports and records the result.
func (v *visit) run(ctx context.Context, draft *reconcile.Draft) {
	quiet := v.follows(draft)
	v.talk.problems(draft)
	v.talk.plan(draft, quiet)
	logPlan(ctx, draft.Plan)
	if err := v.void(ctx, draft); err != nil {
		v.retry(ctx, err)
		return
	}
	result := v.perform(ctx, draft, v.gates())
	quiet = v.keepsUp(result, quiet)
	v.talk.problems(result.Draft) // a run may have found some
	v.talk.result(result, quiet)
	v.reportStatusConflict()
	if err := v.patch(ctx, v.wanted(result, quiet)); err != nil {
		v.talk.keep()
		v.retry(ctx, err)
		return
	}
	v.known.programmed = draft.Asked
	v.talk.keep()
	v.requeue(ctx, result, quiet)
	v.tellPods(ctx, result)
	if result.Frees() {
		v.wakeStalled(v.key)
	}
}

// void removes from the Service what a run is about to make untrue, if the Service is
// unchanged since it was read.
func (v *visit) void(ctx context.Context, draft *reconcile.Draft) error {
	want, outdated := Outdated(v.svc, draft, v.options.Classes.Installation)
	if !outdated && v.describesAnother(draft) {
		want, outdated = status.Want{Generation: v.svc.Generation, Conditions: conditions.Applying(draft)}, true
	}
	if !outdated {
		return nil
	}
	want.Now = v.options.Clock.Now()
	return v.patchSeen(ctx, want)
}

// describesAnother reports whether the Service is reported as programmed, but not with its
// current request. The record is not sufficient while a replaced load balancer still exists.
func (v *visit) describesAnother(draft *reconcile.Draft) bool {
	return v.svc.DeletionTimestamp == nil && draft.Intent == reconcile.Serve && len(draft.Plan.Steps) > 0 && v.programmed() &&
		v.record.Digest == "" && v.known.programmed != draft.Asked
}

// reportStatusConflict records an event that names the other writer of the addresses.
func (v *visit) reportStatusConflict() {
	if writer := v.writes.conflictingWriter(v.key, v.options.Clock.Now()); writer != "" {
		v.talk.say(status.EventAddressOverwritten, writer+" writes other addresses into the status of the Service; Berth puts its own back, at longer and longer intervals. "+
			"Let one of the two leave Services alone that have no class, or give the Service a class")
	}
}

// elsewhere leaves a Service alone that requests another controller. If it was
// ours before, our resources are deleted: the user has moved it.
func (v *visit) elsewhere(ctx context.Context, why string) {
	if v.recorded {
		v.release(ctx, why)
		return
	}
	v.talk.say(status.EventServedElsewhere, why).keep()
	v.known.served = nil
	v.markKnown(v.key)
}

// patch writes the Want of the Service, if it differs.
func (v *visit) patch(ctx context.Context, want status.Want) error {
	return v.patchAs(ctx, want, func(body []byte) []byte { return body })
}

// patchSeen does the same, and fails with a conflict if the Service has changed since it
// was read.
func (v *visit) patchSeen(ctx context.Context, want status.Want) error {
	return v.patchAs(ctx, want, func(body []byte) []byte { return asSeen(body, v.svc.ResourceVersion) })
}

func (v *visit) patchAs(ctx context.Context, want status.Want, as func([]byte) []byte) error {
	if v.options.DryRun {
		want = status.Want{Now: want.Now, Generation: want.Generation, Conditions: want.Conditions, DropConditions: want.DropConditions}
	}
	before := v.svc.Status.LoadBalancer.Ingress
	body, differs := status.Patch(v.svc, want)
	if differs {
		if err := v.write(ctx, as(body)); err != nil {
			return err
		}
	}
	switch {
	case want.LoadBalancer == nil: // the addresses are not part of the patch
	case status.Addressed(body):
		v.known.written = v.svc.Status.LoadBalancer.Ingress
	default: // unchanged; the answer may have addresses that another client has written meanwhile
		v.known.written = before
	}
	return nil
}

// write sends one patch. The Service is then the answer of the API server.
func (v *visit) write(ctx context.Context, body []byte) error {
	if err := v.fenced(); err != nil {
		return err
	}
	v.writes.begin(v.key)
	answer, err := v.client.CoreV1().Services(v.svc.Namespace).Patch(ctx, v.svc.Name, status.PatchType, body, metav1.PatchOptions{}, status.Subresource)
	if err != nil {
		answer = nil
	} else {
		answer.ManagedFields = addressWriters(answer.ManagedFields)
		v.svc = answer
		v.record, v.recorded = RecordOf(answer)
	}
	if v.writes.end(v.key, answer, err) {
		v.queue.AddAfter(v.key, minContest, byRetry)
	}
	return err
}

// refresh reads the Service from the API server with an empty patch, because the program
// has the right to patch and not to get.
func (v *visit) refresh(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": v.svc.UID}})
	if err != nil {
		return err
	}
	return v.write(ctx, body)
}

// writeCondition writes one condition, if nothing else is known.
func (v *visit) writeCondition(ctx context.Context, cond status.Condition) {
	err := v.patch(ctx, status.Want{Now: v.options.Clock.Now(), Generation: v.svc.Generation, Conditions: []status.Condition{cond}})
	if err != nil && !isOutdated(err) {
		klog.FromContext(ctx).Error(err, "status")
	}
}

// gates opens gates of the switch from one load balancer to another: the time counts
// from the condition that both serve.
func (v *visit) gates() func(plan.Gate) time.Duration {
	svc := v.svc
	return func(g plan.Gate) time.Duration {
		for _, cond := range svc.Status.Conditions {
			if cond.Type == status.TypeReplacing && cond.Status == metav1.ConditionTrue {
				return cond.LastTransitionTime.Add(g.After).Sub(v.options.Clock.Now())
			}
		}
		return g.After
	}
}
