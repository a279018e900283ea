package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// Orphans drafts the end of everything that carries the cluster's marks in the
// cloud and belongs to none of the live Services; one draft per owner that the
// marks name. The live Services must have been drafted before, or what they
// share with an orphan would go with it. Run performs such a draft like that of
// a released Service.
func (r *Reconciler) Orphans(ctx context.Context, live providers.Live) ([]*Draft, error) {
	if r.cloud.Orphans == nil {
		return nil, fault.New(fault.Invalid, "%s: what is marked cannot be listed", r.cloud.Name)
	}
	found, err := r.cloud.Orphans(ctx, live)
	if err != nil {
		return nil, fmt.Errorf("orphans: %w", err)
	}
	out := make([]*Draft, 0, len(found))
	for _, have := range found {
		o, svc := have.Owner, &corev1.Service{}
		svc.Namespace, svc.Name = o.Namespace, o.Name
		d := &Draft{
			Job: Job{Service: svc, Release: true}, Parsed: releaseOf(o, svc), Desired: Desired{Want: &stack.Stack{Owner: o}},
			View: View{Have: have, Basis: Read, origin: Read, read: r.options.Now()},
		}
		if d.Plan, err = r.compare(ctx, d.Job, d.Parsed, d.View, d.Want); err != nil {
			return nil, fmt.Errorf("orphans: %w", err)
		}
		d.Found = r.listServing(d.Have)
		if d.Plan.Writes() || len(d.Plan.Blocked) > 0 { // else all of it belongs to existing Services
			out = append(out, d)
		}
	}
	return out, nil
}
