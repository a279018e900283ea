package reconcile

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// observeWrites records every batch and its outcomes, also of a call that panics.
func (r *Reconciler) observeWrites(apply engine.Apply) engine.Apply {
	return func(ctx context.Context, b plan.Batch) (outcomes []plan.Outcome) {
		r.observed.Begin(b)
		defer func() { r.observed.Wrote(b, outcomes) }()
		return apply(ctx, b)
	}
}

// doubtsAddresses reports whether the addresses in the status are kept although a read has found
// others. Just after the start a read may show a load balancer that a previous process has
// deleted, and lack the one that it has created. A plan with steps finds out by itself.
func (r *Reconciler) doubtsAddresses(d *Draft, have *stack.Stack, res *Result) bool {
	known, found := d.Job.Service.Status.LoadBalancer.Ingress, res.Status.Ingress
	if len(known) == 0 || len(found) == 0 || reflect.DeepEqual(known, found) || d.Plan.Writes() || !d.read.Before(r.observed.StaleUntil()) {
		return false
	}
	return !slices.ContainsFunc(res.Serves, func(key stack.Key) bool {
		serving, _ := have.Get(key)
		return r.observed.IsOurs(d.Owner, serving)
	})
}

// contestedSoon and contestedWait are how long after a run its contested resources are read again: soon,
// since clients may be denied, and when another controller has ended what it decided before the status
// had the address.
const (
	contestedSoon = 10 * time.Second
	contestedWait = time.Minute
)

// contestedUntil returns until when to read again what another controller may have deleted: later if a run has created
// contested resources before the status of the Service has their address. A Service with a class is
// one beside another controller.
func (r *Reconciler) contestedUntil(d *Draft, res Result, known time.Time) time.Time {
	svc := d.Job.Service
	if svc.Spec.LoadBalancerClass == nil || reflect.DeepEqual(svc.Status.LoadBalancer.Ingress, res.Status.Ingress) {
		return known
	}
	created := func(s engine.Result) bool {
		return s.State == engine.Done && s.Step.ID.Action == plan.Create && r.cloud.Rules.Kinds[s.Step.ID.Key.Kind].Contested
	}
	if !slices.ContainsFunc(res.Report.Results, created) {
		return known
	}
	return r.options.Now().Add(contestedWait)
}

// recheckAt returns when to read again the shared resources that a Service uses, because a
// previous process may have deleted them; zero: there is no reason to. If that process had served
// the Service, it has not deleted what the Service uses.
func (r *Reconciler) recheckAt(d *Draft, have *stack.Stack) time.Time {
	if d.Job.Applied != "" || !d.read.Before(r.observed.StaleUntil()) {
		return time.Time{}
	}
	for _, res := range have.Resources {
		_, wanted := d.Want.Get(res.Key)
		if wanted && res.Ownership == stack.Shared && res.Proof != stack.None && !r.observed.IsOurs(d.Owner, res) {
			return r.observed.StaleUntil()
		}
	}
	return time.Time{}
}
