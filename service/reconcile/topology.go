package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Flows returns what the existing resources of a draft let through, and what the desired ones would
// on other ports. It returns nil if the cloud has no function for that.
func (r *Reconciler) Flows(d *Draft) []traffic.Flow {
	if r.cloud.Flows == nil {
		return nil
	}
	var out []traffic.Flow
	for _, s := range []*stack.Stack{d.Have, d.Want} {
		if s == nil {
			continue
		}
		for _, f := range traffic.Of(d.Owner, r.cloud.Flows([]*stack.Stack{s})) {
			same := func(g traffic.Flow) bool { return g.Port == f.Port && g.Protocol == f.Protocol }
			if s == d.Have || !slices.ContainsFunc(out, same) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Others returns the other Services that use a shared resource, as far as they are known.
func (r *Reconciler) Others(of stack.Owner, res stack.Resource) []stack.Owner {
	return r.ledger.Others(of, res)
}

// Remembered returns the existing resources of a Service as last read and written; nil: they are
// not known. It reads nothing.
func (r *Reconciler) Remembered(o stack.Owner) *stack.Stack {
	last := r.lastSnapshot(o)
	if last.Partial {
		return nil
	}
	return last.Have
}

// FlowsOf returns what existing resources of a Service let through. It returns nil if the cloud has
// no function for that.
func (r *Reconciler) FlowsOf(o stack.Owner, have *stack.Stack) []traffic.Flow {
	if r.cloud.Flows == nil {
		return nil
	}
	return traffic.Of(o, r.cloud.Flows([]*stack.Stack{have}))
}

// ReachOf returns the reach of the Service of a draft, of the desired stack if that is known.
func (r *Reconciler) ReachOf(d *Draft) providers.Reach {
	if d.Want != nil && r.cloud.Becomes != nil {
		return r.cloud.Becomes(d.Request, d.Want)
	}
	return r.cloud.Reach(d.Request)
}
