package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cloud-provider/api"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

const (
	// patience is how long a call waits for the cloud before it asks to be called
	// again: the stock loop gives every waiting Service a worker.
	patience = 20 * time.Second
	// leastRetry is the shortest time after which a call asks to be repeated. Every
	// repetition is a warning of the stock loop's.
	leastRetry = time.Second
	// leastPause is the same where the cloud wants fewer calls and does not say when.
	leastPause = 5 * time.Second
)

// serve reconciles the cloud with a Service and reports the result. A nil error means
// that nothing is left to do.
func (o *opened) serve(ctx context.Context, svc *corev1.Service) (reconcile.Result, error) {
	beside, err := o.around(ctx, svc)
	if err != nil {
		return reconcile.Result{}, err
	}
	record, _ := service.RecordOf(svc)
	job := reconcile.Job{Service: svc, Applied: record.Digest, Slices: beside.slices, Unmatched: beside.unmatched, NamespaceLabels: beside.labels}
	job.Objects = service.ReadObjects(ctx, o.teller.client, o.ListReferences(job))
	res, err := o.drive(ctx, job)
	if err != nil {
		changed := res.Draft != nil && res.Draft.Asked != "" && res.Draft.Asked != record.Digest
		o.teller.reportUnread(ctx, svc, changed, err)
		return res, retryError(err)
	}
	failed := errorOf(res)
	if failed == nil && !res.Clean {
		failed = fault.New(fault.Pending, "the cloud is still busy with the load balancer: %s", runObstacles(res))
	}
	o.teller.say(svc, runMessages(res, o.Annotations())...)
	if err := o.teller.patch(ctx, svc, desiredMarks(svc, res, failed, o.Outputs())); err != nil && failed == nil {
		failed = err
	}
	if failed == nil {
		return res, nil
	}
	if fault.Is(failed, fault.Pending) && res.Err == nil {
		return res, api.NewRetryError(failed.Error(), max(res.Wait, leastRetry))
	}
	return res, retryError(failed)
}

// release ends everything that a Service owns in the cloud, and takes off the
// Service what we wrote there. A nil error means that nothing is left.
func (o *opened) release(ctx context.Context, svc *corev1.Service) error {
	res, err := o.drive(ctx, reconcile.Job{Service: svc, Release: true})
	if err != nil {
		return retryError(err)
	}
	if err := errorOf(res); err != nil {
		return retryError(err)
	}
	if !res.Released {
		return api.NewRetryError("the cloud has not let everything go yet: "+runObstacles(res), max(res.Wait, leastRetry))
	}
	now, there := o.view.newest(svc)
	if !there {
		o.teller.forget(svc)
		return nil
	}
	return o.teller.released(ctx, now, o.Outputs())
}

// drive works on a Service until it is as wanted, something fails, or the
// patience is over.
//
// The stock loop ends the program for a panic: one that a Service brings to light stays
// with that Service.
func (o *opened) drive(ctx context.Context, job reconcile.Job) (res reconcile.Result, err error) {
	if defect := fault.Guarded(fault.Internal, func() { res, err = o.tries(ctx, job) }); defect != nil {
		err = defect
		o.EnterUnknown(reconcile.OwnerOf(job.Service))
		_ = o.known(job.Service) // it must not stop all others
	}
	if defect, found := errors.AsType[*fault.Defect](err); found {
		klog.FromContext(ctx).Error(defect, "panic", "stack", defect.Stack)
	}
	return res, err
}

// tries is drive as long as nothing panics.
func (o *opened) tries(ctx context.Context, job reconcile.Job) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for try := 0; ; try++ {
		draft, err := o.Draft(ctx, job)
		if err := o.known(job.Service); err != nil {
			return reconcile.Result{}, err
		}
		if err != nil {
			return reconcile.Result{Draft: draft}, err
		}
		if want, outdated := service.Outdated(job.Service, draft, installation); outdated && try == 0 {
			if err := o.teller.patch(ctx, job.Service, want); err != nil {
				return reconcile.Result{}, err
			}
		}
		// Only the stock loop writes addresses, and it does so when a call has ended, so a
		// call cannot wait until clients know the new one.
		res := o.Run(ctx, draft, plan.OpenGates)
		// Where Services are waited for that are not planned yet, the stock loop may need
		// this worker for them.
		if errorOf(res) != nil || res.Clean || res.Released || res.Draft.Plan.AnyBlocked(plan.ByLedger) || !waitForNext(ctx, res, try) {
			return res, nil
		}
	}
}

// known lets shared things go once every Service has been planned. One that could
// not be planned counts: the reconciler then takes it to want anything.
func (o *opened) known(svc *corev1.Service) error {
	all, err := o.view.planned(svc, func(s *corev1.Service) bool { return isServed(s) && o.Choose(s).Elsewhere == "" })
	if err == nil && all {
		o.AllKnown()
	}
	return err
}

// errorOf returns what blocks the run, in words for the user; nil if nothing does, or
// if it resolves by itself.
func errorOf(res reconcile.Result) error {
	switch {
	case res.Err != nil:
		return res.Err
	case res.Draft.Problems.Errors():
		return res.Draft.Problems.Err()
	case len(res.Draft.Plan.Blocked) > 0 && !res.Waits:
		return fmt.Errorf("held: %s", status.EventMessage(conditions.HeldText(res.Draft.Plan.Blocked)))
	}
	return nil
}

// retryError turns a fault that resolves by itself after a known time into one for
// which the stock loop does not back off.
func retryError(err error) error {
	if !fault.Is(err, fault.Throttled) {
		return err
	}
	if _, is := errors.AsType[*api.RetryError](err); is {
		return err
	}
	return api.NewRetryError(err.Error(), max(fault.After(err), leastPause))
}

// waitForNext waits before the next reconcile; it returns false if the time limit ends
// before.
func waitForNext(ctx context.Context, res reconcile.Result, try int) bool {
	wait := res.Wait
	if res.Again || wait <= 0 {
		wait = min(10*time.Millisecond<<min(try, 10), 5*time.Second)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
