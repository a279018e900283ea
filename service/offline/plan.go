package offline

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/settings"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/preview"
)

// Target says which cloud is planned for, and how the controller is set up.
type Target struct {
	Cloud       providers.Entry
	CloudConfig string // path of the official cloud configuration file; empty: none
	ClusterName string
	// Share is the part of the cloud's documented API rates that is used; 0: the default.
	Share float64
	// Settings are those of the controller.
	Settings settings.Settings
	// Installation is the Lease of the controller, which identifies it among several
	// installations in one cluster; empty: there is only one.
	Installation string
	// Progress receives the number of planned Services and of all; may be nil.
	Progress func(done, all int)
}

// classes say which Services are served.
func (t Target) classes() service.Classes {
	out := t.Settings.Serves(t.Cloud.Classes)
	out.Installation, out.Official = t.Installation, t.Cloud.Outputs.ClassFinalizers
	return out
}

// Report is the result of a plan.
type Report struct {
	Document plan.Document
	Left     []Left   // by namespace and name
	Notes    []string // what the user should know and a program need not
	// Alone means that no cluster was asked: Services of these names may exist.
	Alone bool
	// hidden says how many plans are left out, and why; empty: none.
	hidden string
}

// ExitCode is plan.ExitNothing, plan.ExitChanges or plan.ExitError.
func (r Report) ExitCode() int { return plan.ExitCode(r.Document, nil) }

// draftsAtOnce bounds the Services that are planned at the same time; together
// they share the cloud's list calls.
const draftsAtOnce = 64

// Plan says what the controller would do for the Services. It only reads. What
// is wrong with single Services is part of the report; an error means that there
// is none.
func Plan(ctx context.Context, in Input, t Target) (Report, error) {
	run, err := draftAll(ctx, in, t)
	if err != nil {
		return Report{}, err
	}
	return run.report(), nil
}

// draftAll reads Services and cloud and plans every Service.
func draftAll(ctx context.Context, in Input, t Target) (*planning, error) {
	world, err := Gather(ctx, in)
	if err != nil {
		return nil, err
	}
	return draftWorld(ctx, world, t)
}

// draftWorld reads the cloud and plans every Service.
func draftWorld(ctx context.Context, world World, t Target) (*planning, error) {
	policies, err := t.Settings.PlanPolicies()
	if err != nil {
		return nil, err
	}
	keepDrift, err := t.Settings.KeepsDrift()
	if err != nil {
		return nil, err
	}
	bound, problems, err := t.open(ctx, world.ids, world.live)
	if err != nil {
		return nil, err
	}
	admission, err := service.NewAdmission(t.Settings.PolicyConfig, t.Settings.AllowedNamespaces, bound)
	if err != nil {
		return nil, err
	}
	admission.Beside(world.in)
	for _, p := range problems {
		world.note("cloud configuration: " + p.String())
	}
	if len(world.Nodes) == 0 {
		world.note("there are no nodes (see --nodes): load balancers are planned without backends")
	}
	run := &planning{world: world, target: t, reconciler: reconcile.New(bound, reconcile.Options{Policies: policies, KeepDrift: keepDrift, Admit: admission.Judge})}
	run.reconciler.SetNodes(projectNode(world))
	if err := run.drafts(ctx); err != nil {
		return nil, err
	}
	return run, nil
}

// open connects to the cloud. Problems are those of the configuration.
func (t Target) open(ctx context.Context, ids func(context.Context) (providers.ClusterIDs, error), live kubernetes.Interface) (providers.Bound, annotations.Problems, error) {
	var file io.Reader
	if t.CloudConfig != "" {
		f, err := os.Open(t.CloudConfig)
		if err != nil {
			return providers.Bound{}, nil, fmt.Errorf("cloud configuration: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		file = f
	}
	return t.openWith(ctx, file, ids, live)
}

// openWith connects to the cloud with a configuration; nil: none.
func (t Target) openWith(ctx context.Context, file io.Reader, ids func(context.Context) (providers.ClusterIDs, error), live kubernetes.Interface) (providers.Bound, annotations.Problems, error) {
	env := providers.Env{Cluster: t.ClusterName, UserAgent: "berth", Now: time.Now, ClusterIDs: ids, Share: t.Share}
	if live != nil {
		env.Notes, env.Pods, env.Tokens = service.NewNotes(live), service.ListPods(live), service.AccountTokens(live)
	}
	return t.Cloud.Open(ctx, file, env)
}

// projectNode keeps every label: which of them a Service selects by is not known yet.
func projectNode(w World) []nodeports.Node {
	out := make([]nodeports.Node, 0, len(w.Nodes))
	for _, n := range w.Nodes {
		out = append(out, nodeports.Project(n, func(string) bool { return true }))
	}
	return out
}

// planning is one run of Plan.
type planning struct {
	world      World
	target     Target
	reconciler *reconcile.Reconciler
	tasks      []task
	slices     slicesByService // of all Services, if one of them follows pods
	pods       keeper          // of those; nil: no Service follows pods
}

// task is one item and what became of it.
type task struct {
	item  Item
	job   *reconcile.Job
	left  string
	draft *reconcile.Draft
	err   error
}

// drafts plans every Service, then again those whose plan depends on what the
// others want: until the last one is known, no shared resource is known to be unused.
func (p *planning) drafts(ctx context.Context) error {
	for _, item := range p.world.Items {
		t := task{item: item}
		if !item.Refused() {
			t.job, t.left = claimItem(item, p.target.classes(), p.reconciler.Choose, p.reconciler.Outputs())
			if t.job != nil && p.world.Alone {
				// No mark on a file says nothing.
				t.job.NothingMade, t.job.NeverProvisioned = t.job.NeverProvisioned, false
			}
			if t.job != nil {
				// The controller's first call may contradict its assumptions; a plan must not
				// show the creation of an existing resource.
				t.job.Look = true
			}
		}
		p.tasks = append(p.tasks, t)
	}
	if p.reconciler.WantsEndpoints() {
		if err := p.point(ctx); err != nil {
			return err
		}
	}
	if p.reconciler.WantsNamespaceLabels() {
		if err := p.label(ctx); err != nil {
			return err
		}
	}
	p.refer(ctx)
	if err := p.each(ctx, func(t *task) bool { return t.job != nil }); err != nil {
		return err
	}
	if p.world.Whole && !p.unknown() {
		p.reconciler.AllKnown()
	}
	return p.each(ctx, func(t *task) bool { return t.item.Asked && t.draft != nil && dependsOnOthers(t.draft.Plan) })
}

// unknown reports whether a Service without a plan may use shared resources, and notes
// its name.
func (p *planning) unknown() bool {
	found := false
	for _, t := range p.tasks {
		if t.err == nil && !t.item.Refused() {
			continue
		}
		found = true
		if !t.item.Asked {
			p.world.note(fmt.Sprintf("%s can not be planned, so what it may share with others is not removed: %v", t.item.Owner(), t.err))
		}
	}
	return found
}

// dependsOnOthers reports whether a plan depends on what other Services want.
func dependsOnOthers(p plan.Plan) bool {
	forgets := func(s plan.Step) bool { return s.ID.Action == plan.Forget }
	return p.AnyBlocked(plan.ByLedger) || p.AnyBlocked(plan.BySlot) || slices.ContainsFunc(p.Steps, forgets) ||
		slices.ContainsFunc(p.Blocked, func(b plan.Blocked) bool { return forgets(b.Step) })
}

func deletesShared(s plan.Step) bool {
	return s.ID.Action == plan.Delete && s.Target.Ownership == stack.Shared
}

// each drafts the chosen tasks. The error is that of the context; every other
// fault stays with its task.
func (p *planning) each(ctx context.Context, chosen func(*task) bool) error {
	var group errgroup.Group
	group.SetLimit(draftsAtOnce)
	var picked []*task
	for i := range p.tasks {
		if t := &p.tasks[i]; chosen(t) {
			picked = append(picked, t)
		}
	}
	var done atomic.Int32
	for _, t := range picked {
		group.Go(func() error {
			t.draft, t.err = p.reconciler.Draft(ctx, *t.job)
			if n := int(done.Add(1)); p.target.Progress != nil {
				p.target.Progress(n, len(picked))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// report puts together what is to be shown.
func (p *planning) report() Report {
	r := Report{Notes: p.world.Notes, Alone: p.world.Alone}
	var plans []plan.Plan
	for _, t := range p.tasks {
		if !t.item.Asked || t.err != nil || t.draft == nil || t.draft.Want == nil {
			continue
		}
		plans = append(plans, t.draft.Plan)
		if p.world.Alone && slices.ContainsFunc(t.draft.Plan.Steps, deletesShared) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: the plan deletes what Services outside the files may share; if one does, it stays (with --kubeconfig they are known)", t.item.Owner()))
		}
		for _, text := range p.reconciler.Forecast(t.draft) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s", t.item.Owner(), text))
		}
		if t.item.Assumed != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s", t.item.Owner(), t.item.Assumed))
		}
		if t.item.MadeUp != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: made up, because only a cluster assigns it: %s", t.item.Owner(), t.item.MadeUp))
		}
	}
	r.Document = plan.NewDocument(p.target.Cloud.Name, plans)
	var remarks []plan.Remark
	for _, t := range p.tasks {
		if !t.item.Asked {
			continue
		}
		if t.left != "" {
			r.Left = append(r.Left, Left{Owner: t.item.Owner(), Why: t.left})
		}
		remark := plan.Remark{Owner: t.item.Owner(), Problems: p.problems(t)}
		if t.draft != nil {
			remark.Traffic = preview.Documents(p.reconciler.Traffic(t.draft))
		}
		remarks = append(remarks, remark)
	}
	r.Document = r.Document.WithRemarks(remarks...)
	return r
}

// problems are everything that is wrong with one Service, or around it.
func (p *planning) problems(t task) []plan.Problem {
	out := slices.Clone(t.item.Problems)
	switch {
	case t.left != "":
		return out // its annotations are judged by its own controller
	case t.item.Refused():
		return append(out, parseKind(t.item, p.reconciler.Choose(t.item.Service).Kind, p.reconciler.Annotations())...)
	}
	if t.err != nil {
		return append(out, plan.Problem{Severity: plan.Error, Code: string(annotations.CodePlan), Text: conditions.OneLine(t.err)})
	}
	if t.draft == nil {
		return out
	}
	out = append(out, service.PublicProblems(t.draft.Problems)...)
	out = append(out, driftOf(t)...)
	out = append(out, p.opens(t)...)
	for _, kind := range t.draft.Blind.Kinds() {
		out = append(out, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodePlan), Text: "resources of the kind " + string(kind) + " could not be read, so no step creates or deletes one: " + conditions.OneLine(t.draft.Blind[kind])})
	}
	for _, node := range t.draft.Request.Backends.Pending {
		out = append(out, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodePlan), Text: "node " + node + " has no spec.providerID yet, so it is not behind the load balancer"})
	}
	if nodes := t.draft.Request.Backends.Nodes; nodes.FilteredOut() {
		out = append(out, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodePlan), Text: fmt.Sprintf("no node matches although %d could stand behind the load balancer", nodes.Eligible())})
	}
	return out
}

// driftOf says that steps change what another controller has left otherwise.
func driftOf(t task) []plan.Problem {
	_, served := service.RecordOf(t.item.Service)
	if served || !slices.Contains(t.item.Service.Finalizers, service.StockFinalizer) || t.draft.Job.Release {
		return nil
	}
	n := 0
	for _, s := range t.draft.Plan.Steps {
		if reconcile.Drift(s) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []plan.Problem{{Severity: plan.Warning, Code: string(annotations.CodePlan), Text: fmt.Sprintf(
		"another controller has built this load balancer and left it otherwise: %s that %s nothing, performed on take-over unless the controller runs with --on-takeover=keep",
		countOf(n, "step"), map[bool]string{true: "interrupts", false: "interrupt"}[n == 1])}}
}
