package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// listServing lists what clients connect to among the resources of a Service, sorted.
func (r *Reconciler) listServing(have *stack.Stack) []stack.Key {
	if have == nil {
		return nil
	}
	var out []stack.Key
	for _, res := range have.Resources {
		if r.cloud.Rules.Kinds[res.Key.Kind].Role.Is(diff.EntryPoint) && (res.Proof != stack.None || r.hostsParts(have, res)) {
			out = append(out, res.Key)
		}
	}
	slices.SortFunc(out, stack.Key.Compare)
	return slices.Compact(out)
}

// isServing reports whether a load balancer of the Service, or one that serves it, was found.
func (r *Reconciler) isServing(have *stack.Stack) bool { return len(r.listServing(have)) > 0 }

// hostsParts reports whether a found resource is external and contains a resource of the Service.
func (r *Reconciler) hostsParts(have *stack.Stack, res stack.Resource) bool {
	return res.Ownership == stack.External && slices.ContainsFunc(have.Resources, func(part stack.Resource) bool {
		return part.In == res.Key && part.Proof != stack.None && !r.cloud.Rules.Kinds[part.Key.Kind].Within.Inherent
	})
}

// Vanished reports whether a load balancer that existed after the last run is no
// longer found.
func (d *Draft) Vanished() bool { return d.Drifted() && len(d.Found) == 0 && !d.Job.Release }

// Adopts reports whether the load balancer was created by another controller and this
// is the first run that keeps it.
func (d *Draft) Adopts() bool {
	return d.Job.Foreign && !d.Job.NeverProvisioned && len(d.Found) > 0 && !d.Job.Release
}

// Incomplete reports whether a desired resource could not be created or updated yet.
func (r Result) Incomplete() bool {
	return slices.ContainsFunc(r.Report.Results, func(step engine.Result) bool {
		action := step.Step.ID.Action
		return step.State != engine.Done && (action == plan.Create || action == plan.Update)
	})
}

// outlasts reports whether an old load balancer still exists beside an incomplete new
// one. Clients are better served by the old one.
func (r Result) outlasts() bool {
	return r.Incomplete() && slices.ContainsFunc(r.Report.Results, func(step engine.Result) bool {
		return step.State != engine.Done && !step.Step.Gate.IsZero() && !step.Step.Gate.Part
	})
}

// Unready reports whether a desired load balancer is still being created. The one that
// serves meanwhile is not replaced yet.
func (r Result) Unready() bool {
	have, want := r.Report.Have, r.Draft.Want
	return have != nil && want != nil && slices.ContainsFunc(r.Serves, func(k stack.Key) bool {
		found, _ := have.Get(k)
		_, wanted := want.Get(k)
		return wanted && found.State == stack.Pending
	})
}
