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
		d := &Draft{Job: Job{Service: svc, Release: true}, Intent: Release, Owner: o, Want: &stack.Stack{Owner: o}}
		d.observe(have, r.options.Now(), Read)
		d.Request.Owner, d.Request.Service = o, svc
		if err := r.compare(d); err != nil {
			return nil, fmt.Errorf("orphans: %w", err)
		}
		if d.Plan.Writes() || len(d.Plan.Blocked) > 0 { // else all of it belongs to existing Services
			out = append(out, d)
		}
	}
	return out, nil
}
