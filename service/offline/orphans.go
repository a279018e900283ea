package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-multierror"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Orphans is what carries the marks of a cluster in the cloud and belongs to no
// Service of it.
type Orphans struct {
	run    *planning
	input  Input
	drafts []*reconcile.Draft
	notes  []string
}

// FindOrphans compares what is marked in the cloud with the Services of the whole
// cluster. It only reads. A Service counts as long as it asks for a load balancer
// of whatever class, or has a finalizer of a load balancer's controller.
func FindOrphans(ctx context.Context, in Input, t Target) (*Orphans, error) {
	in.Files, in.AllNamespaces = nil, true
	run, err := draftAll(ctx, in, t)
	if err != nil {
		return nil, err
	}
	o := &Orphans{run: run, input: in, notes: run.world.Notes}
	if err := o.look(ctx, liveOwners(run.world.Items, t)); err != nil {
		return nil, err
	}
	o.notes = append(o.notes, fmt.Sprintf("compared with %s of the cluster that have or want a load balancer", count(len(liveOwners(run.world.Items, t)), "Service")))
	return o, nil
}

// look lists the orphans. The Services are read once more after the cloud: one
// that was made meanwhile is not in the first list, and its load balancer is no
// orphan.
func (o *Orphans) look(ctx context.Context, live []stack.Owner) error {
	drafts, err := o.run.reconciler.Orphans(ctx, providers.Live{Services: live, Nodes: project(o.run.world)})
	if err != nil {
		return err
	}
	again, err := Gather(ctx, o.input)
	if err != nil {
		return err
	}
	now := liveOwners(again.Items, o.run.target)
	o.drafts = slices.DeleteFunc(drafts, func(d *reconcile.Draft) bool {
		return slices.ContainsFunc(now, func(l stack.Owner) bool {
			return !slices.Contains(live, l) && (l.Namespace == d.Owner.Namespace && l.Name == d.Owner.Name || d.Owner.Namespace == "")
		})
	})
	return nil
}

// liveOwners are the Services that may have something in the cloud.
func liveOwners(items []Item, t Target) []stack.Owner {
	var out []stack.Owner
	holds := append([]string{service.StockFinalizer, service.OwnFinalizer}, t.Cloud.Outputs.Finalizers...)
	for _, item := range items {
		held := slices.ContainsFunc(item.Service.Finalizers, func(f string) bool { return slices.Contains(holds, f) })
		if item.Service.Spec.Type == corev1.ServiceTypeLoadBalancer || held {
			out = append(out, item.Owner())
		}
	}
	return out
}

// Empty tells whether there are none.
func (o *Orphans) Empty() bool { return len(o.drafts) == 0 }

// Report is the plan of their deletion.
func (o *Orphans) Report() Report {
	var plans []plan.Plan
	for _, d := range o.drafts {
		plans = append(plans, d.Plan)
	}
	return Report{Document: plan.NewDocument(o.run.target.Cloud.Name, plans), Notes: o.notes}
}

const (
	// pause is how long to wait for a cloud that lets go of something slowly.
	pause = 5 * time.Second
	// patience bounds the deletion; security groups are in use for minutes after
	// their load balancer is gone.
	patience = 10 * time.Minute
)

// Delete deletes what was reported, and looks again until nothing of it is left
// or the time is over. Orphans that appear meanwhile are not touched: nobody has
// seen their plan.
func (o *Orphans) Delete(ctx context.Context, tell func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shown := map[stack.Owner]bool{}
	for _, d := range o.drafts {
		shown[d.Owner] = true
	}
	for {
		failed, waits := o.perform(ctx, tell)
		again, err := Gather(ctx, o.input)
		if err != nil {
			return err
		}
		if err := o.look(ctx, liveOwners(again.Items, o.run.target)); err != nil {
			return err
		}
		o.drafts = slices.DeleteFunc(o.drafts, func(d *reconcile.Draft) bool { return !shown[d.Owner] })
		switch {
		case o.Empty():
			return nil
		case failed != nil:
			return failed
		case !waits:
			return errors.New("orphans: some stay, because other Services use them or the plan is held")
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("orphans: not all could be deleted: %w", ctx.Err())
		case <-timer.C:
		}
	}
}

// perform runs every plan once.
func (o *Orphans) perform(ctx context.Context, tell func(string)) (failed error, waits bool) {
	var all *multierror.Error
	for _, d := range o.drafts {
		res := o.run.reconciler.Run(ctx, d, func(plan.Gate) time.Duration { return 0 })
		switch {
		case res.Err != nil:
			all = multierror.Append(all, fmt.Errorf("%s: %w", d.Owner, res.Err))
		case res.Waits:
			waits = true
			tell(fmt.Sprintf("%s: waiting for the cloud", d.Owner))
		default:
			tell(fmt.Sprintf("%s: deleted", d.Owner))
		}
	}
	return all.ErrorOrNil(), waits
}
