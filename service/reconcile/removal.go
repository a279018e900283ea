package reconcile

import (
	"context"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// noteRemovals tells the ledger which shared things a batch removes, for as long as its
// calls take: a Service that comes to want one of them meanwhile must not believe that
// it is there. What is removed is remembered for as long as reads may still show it.
func (r *Reconciler) noteRemovals(apply engine.Apply) engine.Apply {
	return func(ctx context.Context, b plan.Batch) []plan.Outcome {
		var removed []stack.Resource
		for _, s := range b.Steps {
			if removesShared(s) {
				removed = append(removed, s.Target)
				r.ledger.BeginRemoval(s.Target)
				r.shared.drop(s.Target.Key)
			}
		}
		defer func() {
			for _, target := range removed {
				r.ledger.EndRemoval(target, r.options.Now())
			}
		}()
		r.removed.begin(b)
		outcomes := apply(ctx, b)
		r.removed.end(b, outcomes, r.options.Now(), r.ledger)
		r.newcomer.note(b, outcomes, r.options.Now())
		return outcomes
	}
}

func removesShared(s plan.Step) bool {
	return s.ID.Action == plan.Delete && s.Target.Ownership == stack.Shared
}

// loadRemoved reads again if something shared that the draft wants and has found has
// been on its way out since, after that has ended. The Service is in the ledger by
// then, so that no further call removes it.
func (r *Reconciler) loadRemoved(ctx context.Context, d *Draft) error {
	again := false
	for _, want := range d.Want.Resources {
		if _, found := d.Have.Get(want.Key); !found || want.Ownership != stack.Shared {
			continue
		}
		ongoing, removed := r.ledger.RemovedSince(want, d.read)
		again = again || removed
		if ongoing == nil {
			continue
		}
		select {
		case <-ongoing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !again {
		return nil
	}
	d.Job.NeverProvisioned = false
	return r.buildAnew(ctx, d)
}
