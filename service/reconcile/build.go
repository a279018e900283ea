package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// Desired is what the cloud is to have for a request.
type Desired struct {
	Want     *stack.Stack
	problems annotations.Problems // from the build
	refused  annotations.Problems // what the stack must not have
}

// build computes the desired stack of a request.
func (r *Reconciler) build(ctx context.Context, job Job, p Parsed, v View) (Desired, phase, error) {
	if p.Intent == KeepServing {
		return r.buildKept(job, p, v)
	}
	want, problems, err := r.buildDesired(ctx, p, v, v.Have)
	out := Desired{Want: want, problems: problems}
	if err == nil && !problems.Errors() {
		out.refused = r.listBecome(p, want)
	}
	switch failed := problems.Errors() || out.refused.Errors(); {
	case v.Basis == Checked && (failed || err != nil):
		return Desired{}, toReadAll, nil //nolint:nilerr // reported after the full read, if it remains
	case err != nil:
		return Desired{}, toEnd, fmt.Errorf("build: %w", err)
	case failed:
		return out, toWeaken, nil
	}
	return out, toMatch, nil
}

// buildKept desires the existing resources, with today's backends. A Service without a load balancer
// uses only the shared resources that were found for it: others are entered when it is built.
func (r *Reconciler) buildKept(job Job, p Parsed, v View) (Desired, phase, error) {
	out := Desired{Want: r.cloud.KeepServing(p.Request, v.Facts, v.Have)}
	if r.isServing(v.Have) {
		return out, toMatch, nil
	}
	if len(v.Blind) == 0 && v.Basis >= Remembered {
		r.enterDesired(p.Owner, job, out.Want)
	}
	return out, toWeaken, nil
}

// A request is bounded before it is built, so building and comparing take milliseconds. If they
// do not, for an unforeseen reason, they end at a deadline and with the context of the draft, so
// that no Service keeps a processor busy.

// overdueWait is the delay before a Service that took too long is planned again.
const overdueWait = 5 * time.Minute

// buildDesired builds the desired stack, in time.
func (r *Reconciler) buildDesired(ctx context.Context, p Parsed, v View, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	req := p.Request
	req.Over, req.Find = r.startDeadline(ctx), r.ledger.Find
	want, problems, err := r.cloud.Build(req, v.Facts, have)
	if req.Over() {
		return nil, nil, r.overdueError(ctx)
	}
	return want, problems, err
}

// startDeadline starts to measure the time that a Service may take.
func (r *Reconciler) startDeadline(ctx context.Context) (over func() bool) {
	end := r.options.Now().Add(r.options.PlanTime)
	return func() bool { return ctx.Err() != nil || !r.options.Now().Before(end) }
}

// overdueError returns the error for a Service whose time is over.
func (r *Reconciler) overdueError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return &fault.Fault{
		Meaning: fault.Internal, After: overdueWait,
		Text: "planning this Service was given up after " + r.options.PlanTime.String() + "; ask for fewer ports and source ranges, or give the controller more processor time",
	}
}

// listBecome lists what a desired stack must not have: an existing load balancer may keep what the
// Service no longer requests, and must not be changed any further then. It still follows the nodes.
func (r *Reconciler) listBecome(p Parsed, want *stack.Stack) annotations.Problems {
	if r.options.Admit == nil || r.cloud.Becomes == nil {
		return nil
	}
	refused := r.options.Admit(p.Request.Service, r.cloud.Becomes(p.Request, want))
	for i := range refused {
		refused[i].Message += "; the existing load balancer is retained, and is not changed until this is allowed or the Service is recreated"
	}
	return refused
}

// matchObserved enters the desired stack into the ledger, and returns the observed one as it is to be
// compared with that.
func (r *Reconciler) matchObserved(job Job, p Parsed, v View, want *stack.Stack) (*stack.Stack, phase) {
	want.Owner = p.Owner
	have := v.Have
	if r.cloud.MatchFound != nil {
		have = r.cloud.MatchFound(want, have)
	}
	if v.Basis == Assumed || job.NeverProvisioned && job.Look {
		have.Resources = slices.DeleteFunc(have.Resources, isOfOthers(have, want, v.Basis))
	}
	r.enterDesired(p.Owner, job, want)
	switch {
	case v.Basis != Checked:
		return have, toConfirm
	case r.hasUndesired(want, have):
		return have, toReadAll
	}
	return r.assumeDesired(want, have), toCompare
}

// isOfOthers returns a filter of the shared resources that exist for other Services: a Service
// without resources of its own does not desire them.
func isOfOthers(have, want *stack.Stack, basis Basis) func(stack.Resource) bool {
	isOwned := func(res stack.Resource) bool { return res.Ownership == stack.Owned && res.Proof != stack.None }
	exists := basis != Assumed && slices.ContainsFunc(have.Resources, isOwned)
	return func(res stack.Resource) bool {
		_, wanted := want.Get(res.Key)
		return !exists && res.Ownership == stack.Shared && res.In == (stack.Key{}) && !wanted
	}
}

// enterDesired enters the desired stack of a Service into the ledger.
func (r *Reconciler) enterDesired(o stack.Owner, job Job, want *stack.Stack) {
	r.ledger.EnterSince(o, job.Service.CreationTimestamp.Time, r.withKept(want.Resources))
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

// assumeDesired returns the desired resources as if they existed. The kinds that were read are
// as they were found.
func (r *Reconciler) assumeDesired(want, found *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, res := range want.Resources {
		existing, seen := found.Get(res.Key)
		switch {
		case seen && (r.followsBackends(res.Key.Kind) || r.cloud.Rules.Kinds[res.Key.Kind].Role.Is(diff.EntryPoint)):
			out.Resources = append(out.Resources, existing)
		case r.followsBackends(res.Key.Kind):
			// The read would have shown it.
		default:
			res.Proof = stack.Derived
			if seen {
				res.ID, res.State = existing.ID, existing.State
			}
			out.Resources = append(out.Resources, res)
		}
	}
	return out
}
