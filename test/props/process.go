package props

import (
	"context"
	"testing"
	"time"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// Process returns a process on a cloud that knows the nodes, and what these jobs are about.
func Process(t testing.TB, cloud providers.Bound, nodes []nodeports.Node, jobs ...reconcile.Job) *reconcile.Reconciler {
	t.Helper()
	r := reconcile.New(cloud, reconcile.Options{GatherReleases: time.Millisecond})
	r.SetNodes(nodes)
	for _, job := range jobs {
		// A failing draft is not counted as known; the run that follows shows it.
		_, _ = r.Draft(t.Context(), job)
	}
	r.AllKnown()
	return r
}

// Work plans and runs a job one time. Every gate is open.
func Work(ctx context.Context, r *reconcile.Reconciler, job reconcile.Job) (reconcile.Result, error) {
	d, err := r.Draft(ctx, job)
	if err != nil {
		return reconcile.Result{Draft: d}, err
	}
	return r.Run(ctx, d, Pass), nil
}

// Pass lets every gate pass.
func Pass(plan.Gate) time.Duration { return 0 }
