package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/stack"
)

// build computes the desired stack and enters it into the ledger.
func (r *Reconciler) build(ctx context.Context, d *Draft) error {
	if d.Intent == KeepServing {
		r.keepServing(d)
		return nil
	}
	want, problems, err := r.wants(d, d.Have)
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
	d.Request.Backends = r.backends(d)
	if err := r.observeBeyond(ctx, d); err != nil {
		return err
	}
	want, problems, err := r.wants(d, d.Have)
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

// keepServing desires the existing resources, with today's backends. If no load balancer
// exists, the Service is left alone, and uses only the shared resources that were found for it:
// others are entered when it is built.
func (r *Reconciler) keepServing(d *Draft) {
	found := r.cloud.KeepServing(d.Request, d.Facts, d.Have)
	if r.serving(d.Have) {
		r.takeDesired(d, found)
		return
	}
	d.Intent = LeaveAlone
	if len(d.Blind) == 0 && d.Basis >= Remembered {
		r.ledger.EnterSince(d.Owner, d.Job.Service.CreationTimestamp.Time, r.withKept(found.Resources))
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
