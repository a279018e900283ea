package reconcile

import (
	"context"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// GatesPods reports whether pods can wait for load balancers of the cloud.
func (r *Reconciler) GatesPods() bool { return r.cloud.Gates.Prefix != "" && r.cloud.Health != nil }

// IsPodGate reports whether a type of condition of pods is one of the cloud's.
func (r *Reconciler) IsPodGate(conditionType string) bool { return r.cloud.Gates.Covers(conditionType) }

// PodGates lists the conditions of pods that what a run has left in the cloud stands for.
func (r *Reconciler) PodGates(res Result) []providers.PodGate {
	have := res.left()
	if !r.GatesPods() || have == nil {
		return nil
	}
	return r.cloud.Gates.Of(have)
}

// MembersOf asks the cloud how the members of some resources are that a run has left. It
// costs a call for each of them; errors are faults of reading.
func (r *Reconciler) MembersOf(ctx context.Context, res Result, of []stack.Key) ([]providers.MemberHealth, error) {
	some := &stack.Stack{Owner: res.Draft.Owner}
	for _, key := range of {
		if found, ok := res.left().Get(key); ok {
			some.Put(found)
		}
	}
	found, err := r.cloud.Health(ctx, some)
	if err == nil {
		r.health.record(some.Owner, of, found, r.options.Now())
	}
	return found, err
}

// left returns the stack after the run; nil: it is unknown.
func (res Result) left() *stack.Stack {
	if res.Report.Have != nil {
		return res.Report.Have
	}
	return res.Draft.Have
}
