package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Result is the result of a run.
type Result struct {
	Draft  *Draft
	Report engine.Report
	// Status has the addresses for clients; not meaningful while releasing.
	Status status.Result
	// Addresses is where those of Status come from.
	Addresses AddressSource
	// Serves are the load balancers that clients connect to now, sorted.
	Serves []stack.Key
	// Names are the names of these in the cloud, in the same order.
	Names []string
	// Closed lists desired ports that serve no one, or not all desired clients, such as
	// "443/TCP". Of a clean run, and where it is not known, it is empty.
	Closed []string
	// Released means that a read has shown that nothing is left.
	Released bool
	// Clean means that the cloud is in the desired state, and no step is blocked or waits.
	Clean bool
	// Manual lists the actions for the Service that need more permissions.
	Manual []string
	// PresenceOnly means that only the presence of the load balancer was checked: Status has
	// no annotations and finalizers.
	PresenceOnly bool
	Err          error // failures of steps, or of the read after a release
	// Wait is the requeue delay; zero with Waits: the caller's back-off.
	Wait  time.Duration
	Waits bool
	// Again means that another run can follow at once: the changes of this one have changed
	// the desired state.
	Again bool
}

// AddressSource is where the addresses of a Result come from.
type AddressSource int

const (
	// FoundAddresses are the addresses of found or created resources.
	FoundAddresses AddressSource = iota
	// KeptAddresses are the addresses that the Service had before the run, from any controller,
	// because the desired resources are not complete.
	KeptAddresses
	// DoubtedAddresses are the addresses that the Service had before the run, because a read may
	// have shown a load balancer that no longer exists.
	DoubtedAddresses
)

// Run performs the plan of a draft. It may be called once per draft. A run that shows that the
// draft was wrong, or what its conditions report, is followed by a draft from a full read.
func (r *Reconciler) Run(ctx context.Context, d *Draft, gates engine.Gates) Result {
	for d.Intent != LeaveAlone && !d.Clean {
		report := r.engine.Run(ctx, d.Plan, d.Have, gates)
		if r.suffices(d, report) {
			return r.conclude(ctx, d, report)
		}
		again, err := r.draftAgain(ctx, d)
		if err != nil {
			return Result{Draft: d, Err: err}
		}
		d = again
	}
	res := Result{Draft: d}
	if d.Clean {
		res.Clean, res.Manual = !d.Problems.Errors(), d.manual.texts()
		r.fillStatus(d, d.Have, &res)
	}
	return res
}

// suffices records what a run has shown, and reports whether its draft was sufficient: the cloud has not
// contradicted what the draft assumed, and the run has learned nothing that the conditions report.
func (r *Reconciler) suffices(d *Draft, report engine.Report) bool {
	if d.Basis == Assumed && isContradicted(report) {
		return false
	}
	r.record(d, report)
	if d.learned || d.Intent == Release || !report.Learned() {
		return true
	}
	d.learned = true // one time
	return false
}

// draftAgain reads every resource that the Service may own and plans again. The read finds what the run
// before has created.
func (r *Reconciler) draftAgain(ctx context.Context, d *Draft) (*Draft, error) {
	r.observed.ForgetShared()
	r.Distrust(d.Owner)
	job := d.Job
	job.NeverProvisioned, job.NothingMade = false, false
	again, err := r.Draft(ctx, job)
	if err == nil {
		again.learned = d.learned
	}
	return again, err
}

// conclude returns the result of a run that was sufficient, and remembers its state.
func (r *Reconciler) conclude(ctx context.Context, d *Draft, report engine.Report) Result {
	d.manual = d.manual.after(report)
	res := Result{Draft: d, Report: report, Manual: d.manual.texts(), Err: report.Err()}
	res.Wait, res.Waits = r.requeueDelay(d, report)
	if d.Intent == Release {
		r.finishRelease(ctx, d, &res)
		return res
	}
	done := report.Clean() && d.Plan.Only(plan.ByIncomplete) && !d.Problems.Errors()
	res.Again = done && d.Plan.Writes() && d.Basis != Checked && r.needsAnotherPass(ctx, d, report.Have)
	res.Clean = done && len(d.Plan.Blocked) == 0 && len(d.Blind) == 0 && !res.Again
	r.fillStatus(d, report.Have, &res)
	r.remember(d, res)
	return res
}

// isContradicted reports whether the cloud refuted an assumption: a resource of that
// name exists, or a shared resource does not.
func isContradicted(report engine.Report) bool {
	return slices.ContainsFunc(report.Results, func(res engine.Result) bool {
		return fault.Is(res.Outcome.Err, fault.Exists) || fault.Is(res.Outcome.Err, fault.NotFound)
	})
}

// requeueDelay returns the requeue delay after a run, and whether to requeue at all.
func (r *Reconciler) requeueDelay(d *Draft, report engine.Report) (wait time.Duration, waits bool) {
	switch wait, waits = report.Wait(); {
	case d.Plan.AnyBlocked(plan.ByLedger) && r.ledger.Ready():
		return sharedWait, true
	case d.Plan.AnyBlocked(plan.ByLedger):
		return ledgerWait, true
	}
	if left, blocked := r.refused.wait(d.Asked, d.Plan); blocked && (!waits || left < wait) {
		return left, true
	}
	return wait, waits || d.Plan.AnyBlocked(plan.ByBusy) || d.Plan.AnyBlocked(plan.ByIncomplete)
}

// fillStatus computes the status for clients. After a presence check it has no annotations and
// finalizers: the Service has them since the run that created the load balancer.
func (r *Reconciler) fillStatus(d *Draft, have *stack.Stack, res *Result) {
	res.Status, res.Serves = r.cloud.Status(d.Request, have), r.listServing(have)
	for _, key := range res.Serves {
		serving, _ := have.Get(key)
		res.Names = append(res.Names, NameOf(serving))
	}
	if d.origin == Checked {
		res.Status.Annotations, res.Status.Finalizers, res.PresenceOnly = nil, nil, true
	}
	known := d.Job.Service.Status.LoadBalancer.Ingress
	switch {
	case r.doubtsAddresses(d, have, res):
		res.Status.Ingress, res.Addresses = known, DoubtedAddresses
	case len(known) > 0 && (res.outlasts() || d.Plan.AnyBlocked(plan.ByIncomplete)):
		res.Status.Ingress, res.Addresses = known, KeptAddresses
	}
	r.fillTraffic(d, have, res)
}

// ledgerWait is the requeue delay while the other Services of the cluster
// are not all known yet.
const ledgerWait = time.Second

// sharedWait is the first requeue delay while other Services still use a shared
// resource that is to be deleted.
const sharedWait = time.Minute

// Obstructed reports whether steps are blocked by a resource that was found in the cloud or could
// not be read, or another owner has the requested value. Nothing reports the end of that.
func (d *Draft) Obstructed() bool {
	return slices.ContainsFunc(d.Plan.Blocked, plan.Blocked.InCloud) || slices.ContainsFunc(d.Problems, func(p annotations.Problem) bool { return p.Taken })
}

// Frees reports whether the run has released something that only one owner can hold at a
// time, such as a port.
func (r Result) Frees() bool {
	return slices.ContainsFunc(r.Report.Results, func(res engine.Result) bool {
		return res.State == engine.Done && res.Step.ID.Action == plan.Delete && res.Step.Target.Slot != ""
	})
}

// needsAnotherPass builds and compares once more from the state after the run. A change may take
// two plans: one reserves an address while the resource that uses it is replaced, and another one
// releases it.
func (r *Reconciler) needsAnotherPass(ctx context.Context, d *Draft, have *stack.Stack) bool {
	have = withoutForeign(have, d.Want)
	want, problems, err := r.buildDesired(ctx, d.Parsed, d.View, have)
	if err != nil || problems.Errors() {
		return true // the next draft reports the problem
	}
	want.Owner = d.Owner
	if r.cloud.MatchFound != nil {
		have = r.cloud.MatchFound(want, have)
	}
	p, err := r.planChanges(ctx, d.Parsed, d.View, want, have)
	return err != nil || !p.Empty()
}
