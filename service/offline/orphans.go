package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/conditions"
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
	world, err := Gather(ctx, in)
	if err != nil {
		return nil, err
	}
	t.Settings.Classes = append(slices.Clone(t.Settings.Classes), recordedClasses(world.Items)...)
	run, err := draftWorld(ctx, world, t)
	if err != nil {
		return nil, err
	}
	o := &Orphans{run: run, input: in, notes: run.world.Notes}
	for _, u := range o.Unjudged() {
		run.reconciler.EnterUnknown(u.Owner) // it might want anything that is shared
	}
	if err := o.look(ctx, liveOwners(run.world.Items, t)); err != nil {
		return nil, err
	}
	o.notes = append(o.notes, fmt.Sprintf("compared with %s of the cluster that have or want a load balancer", countOf(len(liveOwners(run.world.Items, t)), "Service")))
	return o, nil
}

// look lists the orphans. The Services are read once more after the cloud: one
// that was made meanwhile is not in the first list, and its load balancer is no
// orphan.
func (o *Orphans) look(ctx context.Context, live []stack.Owner) error {
	drafts, err := o.run.reconciler.Orphans(ctx, providers.Live{Services: live, Nodes: projectNode(o.run.world)})
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

// recordedClasses are those of Services that this program serves, whatever the flags of
// the command say: what such Services share with others is theirs.
func recordedClasses(items []Item) []string {
	var out []string
	for _, item := range items {
		if record, served := service.RecordOf(item.Service); served && record.Class != "" {
			out = append(out, record.Class)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unjudged returns the Services whose desired state is unknown, each with the reason.
// Shared resources that they may use cannot be distinguished from orphans.
func (o *Orphans) Unjudged() []Left {
	var out []Left
	for _, t := range o.run.tasks {
		if why := t.unjudged(o.run.target.Cloud.Outputs.Finalizers); why != "" {
			out = append(out, Left{Owner: t.item.Owner(), Why: why})
		}
	}
	return out
}

// unjudged says why it is not known what the Service of a task wants; empty: it is.
// Holds are the finalizers of the cloud's official controllers.
func (t task) unjudged(holds []string) string {
	switch {
	case t.err != nil:
		return "could not be read: " + conditions.OneLine(t.err)
	case t.item.Refused():
		return "is not accepted: " + textsOf(t.item.Problems)
	case t.draft != nil:
		known := t.draft.Intent == reconcile.Serve || t.draft.Intent == reconcile.Release || t.job.NeverProvisioned || t.job.NothingMade
		if known {
			return ""
		}
		return "is not accepted: " + textsOf(service.PublicProblems(t.draft.Problems))
	}
	// It was not planned. A Service without a finalizer of this cloud has no resources here.
	held := append([]string{service.StockFinalizer, service.OwnFinalizer}, holds...)
	if !slices.ContainsFunc(t.item.Service.Finalizers, func(f string) bool { return slices.Contains(held, f) }) {
		return ""
	}
	return cmp.Or(t.left, "carries the finalizer of a load balancer's controller, and nothing tells for which load balancer")
}

// textsOf joins what is wrong with a Service.
func textsOf(problems []plan.Problem) string {
	var out []string
	for _, p := range problems {
		if p.Severity == plan.Error {
			out = append(out, strings.TrimPrefix(p.Where+": "+p.Text, ": "))
		}
	}
	return strings.Join(out, "; ")
}

// Empty reports whether there are no orphans.
func (o *Orphans) Empty() bool { return len(o.drafts) == 0 }

// ExitCode is plan.ExitChanges if there are some, plan.ExitUnjudged if none was found
// and not every Service could be judged, else plan.ExitNothing.
func (o *Orphans) ExitCode() int {
	switch {
	case !o.Empty():
		return plan.ExitChanges
	case len(o.Unjudged()) > 0:
		return plan.ExitUnjudged
	}
	return plan.ExitNothing
}

// Report is the plan of their deletion, and the Services that could not be judged.
func (o *Orphans) Report() Report {
	var plans []plan.Plan
	for _, d := range o.drafts {
		plans = append(plans, d.Plan)
	}
	r := Report{Document: plan.NewDocument(o.run.target.Cloud.Name, plans), Notes: o.notes}
	var remarks []plan.Remark
	for _, u := range o.Unjudged() {
		remarks = append(remarks, plan.Remark{Owner: u.Owner, Problems: []plan.Problem{{Severity: plan.Warning, Code: string(annotations.CodePlan),
			Text: "what this Service may share with others is not judged: it " + u.Why}}})
	}
	r.Document = r.Document.WithRemarks(remarks...)
	return r
}

// Text shows the orphans to a person. That everything belongs to a Service is said only
// where every Service could be judged.
func (o *Orphans) Text(opt plan.Options) string {
	var b strings.Builder
	unjudged := o.Unjudged()
	switch {
	case !o.Empty():
		var plans []plan.Plan
		for _, d := range o.drafts {
			plans = append(plans, d.Plan)
		}
		b.WriteString(plan.Human(plan.NewDocument(o.run.target.Cloud.Name, plans), opt))
	case len(unjudged) == 0:
		return "No orphans. Everything in the cloud that is marked as this cluster's belongs to a Service.\n"
	default:
		writeWrapped(&b, opt.Width, "No orphans were found, and there may be some.")
	}
	if len(unjudged) == 0 {
		return b.String()
	}
	b.WriteString("\n")
	writeWrapped(&b, opt.Width, fmt.Sprintf("Not judged are resources that %s may share with others, because their desired state is unknown:", countOf(len(unjudged), "Service")))
	for _, u := range unjudged {
		writeWrapped(&b, opt.Width, "  "+u.Owner.String()+" "+u.Why)
	}
	writeWrapped(&b, opt.Width, "Correct or delete these Services, then run the command again.")
	return b.String()
}

const (
	// pause is the time between attempts while the cloud releases a resource slowly.
	pause = 5 * time.Second
	// patience bounds the deletion; security groups are in use for minutes after
	// the deletion of their load balancer.
	patience = 10 * time.Minute
)

// Delete deletes the reported orphans, and reads again until none of them is left
// or the time is over. Orphans that appear meanwhile are not touched: the user has not
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
	var all []error
	for _, d := range o.drafts {
		res := o.run.reconciler.Run(ctx, d, func(plan.Gate) time.Duration { return 0 })
		switch {
		case res.Err != nil:
			all = append(all, fmt.Errorf("%s: %s", d.Owner, conditions.OneLine(res.Err)))
		case res.Waits:
			waits = true
			tell(fmt.Sprintf("%s: waiting for the cloud", d.Owner))
		default:
			tell(fmt.Sprintf("%s: deleted", d.Owner))
		}
	}
	return errors.Join(all...), waits
}
