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
	// longWait is how long something may take before users hear of it.
	longWait = 5 * time.Minute
)

// requeue decides when to look at the Service again, and for what cause: what a user
// waits for stays that until it is done.
func (v *visit) requeue(ctx context.Context, result reconcile.Result, quiet bool) {
	if !result.Waits && !result.Again {
		v.known.plans, v.known.waits = 0, time.Time{}
	}
	failed, unseen := failures(result), result.Draft.Plan.AnyBlocked(plan.ByBlind)
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
		v.queue.GoOn(v.key, backoff(v.known.failures), byRetry)
	case result.Draft.Obstructed():
		v.queue.AddAfter(v.key, maxBackoff, byRetry)
	default:
		v.queue.AddAfter(v.key, v.reconciler.NextRead(result.Draft.Owner), byDrift)
	}
}

// soonest is how long to wait for the failure that may go well first.
func (v *visit) soonest(failed []error) time.Duration {
	v.known.failures++
	first := v.after(failed[0])
	for _, err := range failed[1:] {
		first = min(first, v.after(err))
	}
	return first
}

// pause is how long to wait after a failure.
func (v *visit) pause(err error) time.Duration {
	v.known.failures++
	return v.after(err)
}

// after is how long to wait for what failed, by what the failure means.
func (v *visit) after(err error) time.Duration {
	if v.noteDefect(err) {
		return maxBackoff
	}
	switch fault.Of(err) {
	case fault.Throttled:
		// Each Service another time, so that not all come back together.
		return wait.Jitter(max(fault.After(err), backoff(v.known.failures)), 1)
	case fault.Invalid, fault.Taken:
		// Only a change of the Service can help, or that another one goes, which wakes it;
		// look again now and then all the same, since what it refers to may appear.
		return maxBackoff
	default:
		return max(min(fault.After(err), maxBackoff), backoff(v.known.failures))
	}
}

// noteDefect counts a failure that a panic has brought to light, and writes to the log
// what users are not shown.
func (v *visit) noteDefect(err error) bool {
	defect, found := errors.AsType[*fault.Defect](err)
	if found {
		klog.Background().Error(defect, "panic", logkey.Service, v.key, logkey.Stack, defect.Stack)
		v.options.Watchers.Metrics.Panicked()
	}
	return found
}

// backoff is how long to wait after the nth failure in a row.
func backoff(nth int) time.Duration {
	return min(minBackoff<<min(max(nth-1, 0), 10), maxBackoff)
}

// nextWait is how long to wait for what the cloud is busy with: as long as it asked
// for at first, then half as long as was waited so far. It does not count how often:
// a Service is looked at for other reasons as well. A gate opens at its time.
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

// onlyGates tells whether nothing is waited for but the time after a switch.
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

// nextStep is how long to wait before going on with a change that takes several
// plans: next to nothing at first, longer if it never ends.
func (v *visit) nextStep() time.Duration {
	v.known.plans++
	return min(10*time.Millisecond<<min(v.known.plans, 13), maxWait)
}

// logPlan writes one line per step about to be done.
func logPlan(ctx context.Context, p plan.Plan) {
	log := klog.FromContext(ctx)
	for _, s := range p.Steps {
		log.V(1).Info("step", logkey.Action, s.ID.Action, logkey.Resource, s.ID.Key.String(), logkey.Part, s.ID.Part, logkey.Reason, s.Reason)
	}
	for _, h := range p.Blocked {
		log.V(1).Info("held", logkey.Step, h.Step.ID.String(), logkey.By, h.Cause(), logkey.Why, h.Why)
	}
}
