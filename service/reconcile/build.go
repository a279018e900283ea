package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// build computes the desired stack and enters it into the ledger.
func (r *Reconciler) build(ctx context.Context, d *Draft) error {
	if d.Intent == KeepServing {
		r.keepServing(d)
		return nil
	}
	want, problems, err := r.buildDesired(d, d.Have)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	d.built, d.Problems = problems, append(d.Problems, problems...)
	if problems.Errors() {
		return r.buildLastGood(ctx, d)
	}
	if r.admitWant(d, want) {
		r.takeDesired(d, want)
	}
	return nil
}

// buildLastGood builds from the last valid request where today's cannot be built. If that one
// cannot be built any more either, the existing resources follow the nodes.
func (r *Reconciler) buildLastGood(ctx context.Context, d *Draft) error {
	switch r.fallBack(d); d.Intent {
	case LeaveAlone:
		return nil
	case KeepServing:
		r.keepServing(d)
		return nil
	case Serve, Release:
	}
	d.Request.Backends = r.computeBackends(d)
	if err := r.observeBeyond(ctx, d); err != nil {
		return err
	}
	want, problems, err := r.buildDesired(d, d.Have)
	if err != nil {
		return fmt.Errorf("build the last good state: %w", err)
	}
	switch {
	case !problems.Errors():
		if r.admitWant(d, want) {
			r.takeDesired(d, want)
		}
	case r.cloud.KeepServing != nil:
		d.Intent = KeepServing
		r.keepServing(d)
	default:
		d.Intent = LeaveAlone
	}
	return nil
}

// admitWant checks the desired stack as well: an existing load balancer may keep what the Service
// no longer requests, and must not be changed any further then. It still follows the nodes.
func (r *Reconciler) admitWant(d *Draft, want *stack.Stack) bool {
	if r.options.Admit == nil || r.cloud.Becomes == nil {
		return true
	}
	refused := r.options.Admit(d.Request.Service, r.cloud.Becomes(d.Request, want))
	if !refused.Errors() {
		return true
	}
	for i := range refused {
		refused[i].Message += "; the existing load balancer is retained, and is not changed until this is allowed or the Service is recreated"
	}
	d.Refused = append(d.Refused, refused...).Distinct()
	d.Problems = append(d.Problems, refused...).Distinct()
	if d.Intent = LeaveAlone; r.cloud.KeepServing != nil {
		d.Intent = KeepServing
		r.keepServing(d)
	}
	return false
}

// keepServing desires the existing resources, with today's backends. If no load balancer
// exists, the Service is left alone, and uses only the shared resources that were found for it:
// others are entered when it is built.
func (r *Reconciler) keepServing(d *Draft) {
	found := r.cloud.KeepServing(d.Request, d.Facts, d.Have)
	if r.isServing(d.Have) {
		r.takeDesired(d, found)
		return
	}
	d.Intent = LeaveAlone
	if len(d.Blind) == 0 && d.Basis >= Remembered {
		r.ledger.EnterSince(d.Owner, d.Job.Service.CreationTimestamp.Time, r.withKept(found.Resources))
	}
}

// A request is bounded before it is built, so building and comparing take milliseconds. If they
// do not, for an unforeseen reason, they end at a deadline and with the context of the draft, so
// that no Service keeps a processor busy.

// overdueWait is the delay before a Service that took too long is planned again.
const overdueWait = 5 * time.Minute

// buildDesired builds the desired stack, in time.
func (r *Reconciler) buildDesired(d *Draft, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	req := d.Request
	req.Over, req.Find = r.startDeadline(d), r.ledger.Find
	want, problems, err := r.cloud.Build(req, d.Facts, have)
	if req.Over() {
		return nil, nil, r.overdueError(d)
	}
	return want, problems, err
}

// startDeadline starts to measure the time that a Service may take.
func (r *Reconciler) startDeadline(d *Draft) (over func() bool) {
	end := r.options.Now().Add(r.options.PlanTime)
	return func() bool { return d.ended != nil && d.ended() != nil || !r.options.Now().Before(end) }
}

// overdueError returns the error for a Service whose time is over.
func (r *Reconciler) overdueError(d *Draft) error {
	if d.ended != nil && d.ended() != nil {
		return d.ended()
	}
	return &fault.Fault{
		Meaning: fault.Internal, After: overdueWait,
		Text: "planning this Service was given up after " + r.options.PlanTime.String() + "; ask for fewer ports and source ranges, or give the controller more processor time",
	}
}

// takeDesired sets the desired stack, and matches the observed one with it.
func (r *Reconciler) takeDesired(d *Draft, want *stack.Stack) {
	want.Owner = d.Owner
	if r.cloud.MatchFound != nil {
		d.Have = r.cloud.MatchFound(want, d.Have)
	}
	d.Want = want
	d.dropUnwanted()
	r.ledger.EnterSince(d.Owner, d.Job.Service.CreationTimestamp.Time, r.withKept(want.Resources))
}

// dropUnwanted removes from the observed stack of a Service without resources the shared
// resources that it does not desire: they exist for other Services.
func (d *Draft) dropUnwanted() {
	owned := func(res stack.Resource) bool { return res.Ownership == stack.Owned && res.Proof != stack.None }
	untouched := d.Job.NeverProvisioned && d.Job.Look && !slices.ContainsFunc(d.Have.Resources, owned)
	if d.Basis != Assumed && !untouched || d.Want == nil {
		return
	}
	d.Have.Resources = slices.DeleteFunc(d.Have.Resources, func(res stack.Resource) bool {
		_, wanted := d.Want.Get(res.Key)
		return res.Ownership == stack.Shared && res.In == (stack.Key{}) && !wanted
	})
}

// withKept returns desired resources with the shared ones that are kept with them.
func (r *Reconciler) withKept(wanted []stack.Resource) []stack.Resource {
	out := slices.Clip(wanted)
	for _, res := range wanted {
		keeps := r.cloud.Rules.Kinds[res.Key.Kind].Keeps
		if keeps == nil || res.Ownership != stack.Shared {
			continue
		}
		for _, key := range keeps(res.Key) {
			out = append(out, stack.Resource{Key: key, Ownership: stack.Shared})
		}
	}
	return out
}
