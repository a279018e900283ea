package service

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/health"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/tracing"
	"github.com/berth-lb/berth/stack/engine"
)

// Watchers observe the loop; each can be nil.
type Watchers struct {
	Metrics *metrics.Metrics
	Tracer  *tracing.Tracer
	Health  *health.Health
}

// attempt is the record of one reconcile, for the log, the metrics and the traces. One
// goroutine uses it.
type attempt struct {
	began  time.Time
	draft  *reconcile.Draft
	result reconcile.Result
	err    error // that ended it, or for which it is retried
	again  bool  // the Service has changed meanwhile: no failure
}

type attemptKey struct{}

// attemptOf returns the attempt of a context.
func attemptOf(ctx context.Context) *attempt {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return &attempt{} // no observer
	}
	return a
}

// observe starts an attempt; the returned function ends it.
func (c *Controller) observe(ctx context.Context, svc *corev1.Service) (context.Context, func()) {
	a := &attempt{began: c.options.Clock.Now()}
	ctx, endSpan := c.options.Watchers.Tracer.Reconcile(context.WithValue(ctx, attemptKey{}, a), svc.Namespace, svc.Name)
	return ctx, func() {
		if a.draft == nil && a.err == nil {
			endSpan(tracing.Outcome{Result: metrics.ResultUnchanged})
			return // it is left alone
		}
		run := a.run(c.options.Clock.Since(a.began))
		c.options.Watchers.Metrics.Ran(run)
		endSpan(tracing.Outcome{Kind: run.Kind, Result: run.Result, Steps: len(run.Steps), Err: a.failure()})
		a.log(klog.FromContext(ctx), run)
	}
}

// log writes one line about the attempt: always if it had an effect, else only at high
// verbosity.
func (a *attempt) log(log klog.Logger, run metrics.Run) {
	level := 1
	if len(run.Steps) > 0 {
		level = 0
	}
	if log := log.V(level); log.Enabled() {
		log.Info("reconciled", logkey.Kind, run.Kind, logkey.Result, run.Result, logkey.Steps, len(run.Steps), logkey.Duration, run.Took)
	}
}

// run returns the measurements of the attempt.
func (a *attempt) run(took time.Duration) metrics.Run {
	run := metrics.Run{Result: a.word(), Took: took}
	if a.draft == nil {
		return run
	}
	run.Kind, run.Lookup = a.draft.Request.Kind, string(a.draft.Lookup())
	run.Planned = len(a.draft.Plan.Steps)
	run.Checked, run.Drifted = a.draft.Rechecked(), a.draft.Drifted()
	for _, r := range a.result.Report.Results {
		run.Steps = append(run.Steps, metrics.Step{Resource: string(r.Step.ID.Key.Kind), Action: string(r.Step.ID.Action), Result: string(r.State)})
	}
	return run
}

// failure is the error of an attempt that failed.
func (a *attempt) failure() error {
	if a.again {
		return nil
	}
	return errors.Join(a.err, a.result.Err)
}

// word returns the result of the attempt.
func (a *attempt) word() string {
	switch err := a.failure(); {
	case err != nil && (fault.Is(a.err, fault.Throttled) || fault.Is(a.result.Err, fault.Throttled)):
		return metrics.ResultThrottled
	case err != nil:
		return metrics.ResultFailed
	case a.again:
		return metrics.ResultWaiting
	case a.result.Released:
		return metrics.ResultReleased
	case a.draft.Intent == reconcile.LeaveAlone || a.draft.Problems.Errors():
		return metrics.ResultRejected
	case a.result.Waits || a.result.Again:
		return metrics.ResultWaiting
	case len(a.draft.Plan.Blocked) > 0:
		return metrics.ResultHeld
	case a.draft.Lookup() == reconcile.LookupUnchanged:
		return metrics.ResultUnchanged
	}
	return metrics.ResultDone
}

// perform runs a draft and records the result.
func (c *Controller) perform(ctx context.Context, draft *reconcile.Draft, gates engine.Gates) reconcile.Result {
	result := c.reconciler.Run(ctx, draft, gates)
	a := attemptOf(ctx)
	a.draft, a.result = result.Draft, result
	return result
}

// elsewhere reports whether another controller serves a Service. One that triggers a panic
// counts as ours; its own reconcile reports it.
func (c *Controller) elsewhere(svc *corev1.Service) (out bool) {
	if fault.Guarded(fault.Internal, func() { out = c.reconciler.Choose(svc).Elsewhere != "" }) != nil {
		return false
	}
	return out
}

// watched returns the served Services, for the metrics.
func (c *Controller) watched() []*corev1.Service {
	all, err := c.services.List(everything)
	if err != nil {
		return nil // a lister on a cache does not fail
	}
	var out []*corev1.Service
	for _, svc := range all {
		if c.options.Classes.Claim(svc) == Served && !c.elsewhere(svc) {
			out = append(out, svc)
		}
	}
	return out
}
