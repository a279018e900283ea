package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	// Failures back off from 5 s, doubling up to 5 min, as the stock controller's do.
	minBackoff = 5 * time.Second
	maxBackoff = 300 * time.Second
	// Waits grow from 5 s to a minute.
	minWait = 5 * time.Second
	maxWait = time.Minute
	// longWait is the wait after which users are informed.
	longWait = 5 * time.Minute
)

// requeue decides when to reconcile the Service again, and for which cause: a user's
// change keeps its priority until it is complete.
func (v *visit) requeue(ctx context.Context, result reconcile.Result, quiet bool) {
	if !result.Waits && !result.Again {
		v.known.plans, v.known.waits = 0, time.Time{}
	}
	failed, unseen := runFailures(result), result.Draft.Plan.AnyBlocked(plan.ByBlind)
	if len(failed) == 0 && !unseen {
		v.known.failures = 0
	}
	taken := slices.ContainsFunc(failed, func(err error) bool { return fault.Is(err, fault.Taken) })
	v.seen.stall(v.key, taken || result.Draft.Obstructed() || result.Draft.Plan.AnyBlocked(plan.ByLedger) || len(result.Draft.Refused) > 0)
	switch {
	case len(failed) > 0:
		klog.FromContext(ctx).Info("steps failed", logkey.Err, conditions.OneLine(result.Err))
		pause, cause := v.soonest(failed), byRetry
		if result.Waits {
			pause = min(pause, v.nextWait(result))
		}
		if quiet {
			cause = v.turn.Urgency
		}
		v.queue.GoOn(v.key, pause, cause)
	case result.Again:
		v.queue.GoOn(v.key, v.nextStep(), v.turn.Urgency)
	case result.Waits:
		v.queue.GoOn(v.key, v.nextWait(result), v.turn.Urgency)
	case unseen:
		v.known.failures++
		v.queue.GoOn(v.key, backoffAfter(v.known.failures), byRetry)
	case result.Draft.Obstructed():
		v.queue.AddAfter(v.key, maxBackoff, byRetry)
	default:
		v.queue.AddAfter(v.key, v.reconciler.NextRead(result.Draft.Owner), byDrift)
	}
}

// soonest returns the shortest wait of the failures.
func (v *visit) soonest(failed []error) time.Duration {
	v.known.failures++
	first := v.after(failed[0])
	for _, err := range failed[1:] {
		first = min(first, v.after(err))
	}
	return first
}

// pause returns the wait after a failure.
func (v *visit) pause(err error) time.Duration {
	v.known.failures++
	return v.after(err)
}

// after returns the wait after a failure, by its meaning.
func (v *visit) after(err error) time.Duration {
	if v.noteDefect(err) {
		return maxBackoff
	}
	switch fault.Of(err) {
	case fault.Throttled:
		// Different for each Service, so that retries are spread.
		return wait.Jitter(max(fault.After(err), backoffAfter(v.known.failures)), 1)
	case fault.Invalid, fault.Taken:
		// Only a change of the Service helps, or the deletion of another one, which queues
		// it. Retry now and then, because resources that it refers to may appear.
		return maxBackoff
	default:
		return max(min(fault.After(err), maxBackoff), backoffAfter(v.known.failures))
	}
}

// noteDefect counts a failure caused by a panic, and logs details that users do not see.
func (v *visit) noteDefect(err error) bool {
	defect, found := errors.AsType[*fault.Defect](err)
	if found {
		klog.Background().Error(defect, "panic", logkey.Service, v.key, logkey.Stack, defect.Stack)
		v.options.Watchers.Metrics.Panicked()
	}
	return found
}

// backoffAfter returns the wait after the nth consecutive failure.
func backoffAfter(nth int) time.Duration {
	return min(minBackoff<<min(max(nth-1, 0), 10), maxBackoff)
}

// nextWait returns the wait for a busy cloud: at first as long as it requested, then half
// of the total wait so far. It does not count attempts, because a Service is reconciled for
// other causes as well. A gate opens at its time.
func (v *visit) nextWait(result reconcile.Result) time.Duration {
	now := v.options.Clock.Now()
	if v.known.waits.IsZero() {
		v.known.waits = now
	}
	asked := result.Wait
	if asked > 0 && onlyGates(result) {
		return asked
	}
	if asked <= 0 {
		asked = minWait
	}
	return max(asked, min(now.Sub(v.known.waits)/2, maxWait))
}

// onlyGates reports whether only the time after a switch is pending.
func onlyGates(result reconcile.Result) bool {
	if len(result.Draft.Plan.Blocked) > 0 {
		return false
	}
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && r.Because == (plan.StepID{}) && r.Step.Gate.IsZero() {
			return false
		}
	}
	return true
}

// nextStep returns the wait before the next plan of a change that takes several: short at
// first, longer if it does not end.
func (v *visit) nextStep() time.Duration {
	v.known.plans++
	return min(10*time.Millisecond<<min(v.known.plans, 13), maxWait)
}

// logPlan logs one line per step before it is performed.
func logPlan(ctx context.Context, p plan.Plan) {
	log := klog.FromContext(ctx)
	for _, s := range p.Steps {
		log.V(1).Info("step", logkey.Action, s.ID.Action, logkey.Resource, s.ID.Key.String(), logkey.Part, s.ID.Part, logkey.Reason, s.Reason)
	}
	for _, h := range p.Blocked {
		log.V(1).Info("held", logkey.Step, h.Step.ID.String(), logkey.By, h.Cause(), logkey.Why, h.Why)
	}
}
