package offline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Judge says how Services are judged besides their conditions.
type Judge struct {
	// Target is the controller; without a cloud it is not known, and each of Clouds may have
	// served a Service.
	Target Target
	Clouds []providers.Entry
	// Lease is the one of the controller, as namespace/name; empty: that of Target, else
	// DefaultLease.
	Lease string
	// Now is the time that the Lease is compared with.
	Now time.Time
}

// DefaultLease is the Lease of a controller that is not told otherwise.
const DefaultLease = "kube-system/cloud-controller-manager"

// judge completes what the conditions of Services say. It reads the cluster alone.
func (s *Standings) judge(ctx context.Context, world World, by Judge) error {
	var views []*planning
	clouds := by.Clouds
	if by.Target.Cloud.Name != "" {
		clouds = []providers.Entry{by.Target.Cloud}
	}
	for _, cloud := range clouds {
		view, err := viewOf(ctx, world, by.Target, cloud)
		if err != nil && by.Target.Cloud.Name != "" {
			return err
		}
		if err != nil && world.hasNodesOf(cloud) {
			views = nil // without its configuration nothing can be said of its Services
			break
		}
		if err == nil {
			views = append(views, view)
		}
	}
	places := map[stack.Owner]int{}
	for i, item := range world.Items {
		places[item.Owner()] = i
	}
	for i := range s.Services {
		judgeService(&s.Services[i], places[s.Services[i].Owner], views, by.Target.Cloud.Name != "")
	}
	s.Controller = leaseOf(ctx, world, by)
	return nil
}

// hasNodesOf reports whether a node is a machine of the cloud.
func (w World) hasNodesOf(cloud providers.Entry) bool {
	return slices.ContainsFunc(w.Nodes, func(n *corev1.Node) bool { return strings.HasPrefix(n.Spec.ProviderID, cloud.Name+":") })
}

// viewOf prepares the jobs of Services as a controller of the cloud would, without a session.
func viewOf(ctx context.Context, world World, t Target, cloud providers.Entry) (*planning, error) {
	var file io.Reader
	if t.CloudConfig != "" && t.Cloud.Name == cloud.Name {
		text, err := os.ReadFile(t.CloudConfig)
		if err != nil {
			return nil, fmt.Errorf("cloud configuration: %w", err)
		}
		file = bytes.NewReader(text)
	}
	bound, err := cloud.Parse(file)
	if err != nil {
		return nil, err
	}
	if t.Cloud.Name == "" { // the flags are not known: what was served still is
		t.Settings.DefaultClass, t.Settings.Classes = true, recordedClasses(world.Items)
	}
	t.Cloud = cloud
	p := &planning{world: world, target: t, reconciler: reconcile.New(bound, reconcile.Options{})}
	for _, item := range world.Items {
		one := task{item: item}
		if item.Asked {
			one.job, one.left = claimItem(item, t.classes(), p.reconciler.Choose, p.reconciler.Outputs())
		}
		p.tasks = append(p.tasks, one)
	}
	if p.reconciler.WantsNamespaceLabels() {
		if err := p.label(ctx); err != nil {
			return nil, err
		}
	}
	if p.hasObjects() {
		p.refer(ctx)
	}
	return p, nil
}

// judgeService completes one Service; the views have it at the same place. Known reports whether
// the one view is that of the controller.
func judgeService(s *view.Service, at int, views []*planning, known bool) {
	if len(views) == 0 {
		return
	}
	svc := views[0].tasks[at].item.Service
	record, recorded := service.RecordOf(svc)
	if known && views[0].tasks[at].left == "" {
		s.Kind = views[0].reconciler.Choose(svc).Kind
	}
	switch {
	case known && views[0].tasks[at].left != "":
		s.Decide(view.LeftAlone, "left alone: "+views[0].tasks[at].left)
	case known && s.Health == status.Unreported && !recorded && svc.DeletionTimestamp == nil:
		s.Decide(view.NotLookedAt, "not looked at yet: no controller of this program has reported on the Service")
	case !recorded || !s.Settled() || !reconcile.IsOfDraft(record.Digest):
	case isChanged(at, views, record.Digest):
		s.Decide(view.Changed, changedText(svc))
	}
}

// isChanged reports whether a view serves the Service, and none has recorded what it asks for.
func isChanged(at int, views []*planning, digest string) bool {
	served := false
	for _, p := range views {
		job := p.tasks[at].job
		if job == nil || job.Release {
			continue
		}
		if served = true; !p.knows(p.tasks[at]) || p.reconciler.Asked(*job) == digest {
			return false
		}
	}
	return served
}

// changedText says since when a Service asks for something else than its conditions are
// about, as far as the API server knows.
func changedText(svc *corev1.Service) string {
	var last time.Time
	for _, f := range svc.ManagedFields {
		if f.Subresource == "" && f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	since := ""
	if !last.IsZero() {
		since = " since " + last.UTC().Format(time.RFC3339)
	}
	return "changed" + since + ": the conditions are about an earlier configuration, and no controller has applied this one"
}

// compareService completes a Service with the difference between the cloud and what it asks for.
func compareService(s *view.Service, d *reconcile.Draft) {
	if s.Verdict != "" || d.Job.Release || d.Want == nil || len(d.Blind) > 0 {
		return
	}
	if len(d.Found) == 0 && (len(s.Addresses) > 0 || s.Settled()) {
		s.Decide(view.NotFound, "the cloud has no load balancer of the Service: the controller creates it again at its next check, or at once after `berth sync`")
		return
	}
	var left []string
	for _, step := range d.Plan.Steps {
		if step.ID.Action == plan.Create || step.ID.Action == plan.Update || step.Target.Ownership == stack.Owned {
			left = append(left, step.ID.String())
		}
	}
	if len(left) == 0 || !s.Settled() {
		return
	}
	s.Decide(view.Differs, fmt.Sprintf("the cloud differs from what the Service asks for by %s, such as %s; `berth plan` shows them", countOf(len(left), "step"), left[0]))
}

// leaseOf reads the Lease of the controller. Without the right to do so nothing is known.
func leaseOf(ctx context.Context, world World, by Judge) *view.Controller {
	if world.live == nil {
		return nil // there is no cluster
	}
	name := DefaultLease
	for _, other := range []string{by.Target.Installation, by.Lease} {
		if other != "" {
			name = other
		}
	}
	out := &view.Controller{Lease: name}
	namespace, lease, _ := strings.Cut(name, "/")
	found, err := world.live.CoordinationV1().Leases(namespace).Get(ctx, lease, metav1.GetOptions{})
	if err != nil || found.Spec.RenewTime == nil {
		return out // forbidden, or a controller without leader election
	}
	renewed := metav1.NewTime(found.Spec.RenewTime.Time)
	out.Renewed = &renewed
	if found.Spec.HolderIdentity != nil {
		out.Holder = *found.Spec.HolderIdentity
	}
	duration := defaultLeaseDuration
	if found.Spec.LeaseDurationSeconds != nil {
		duration = max(duration, time.Duration(*found.Spec.LeaseDurationSeconds)*time.Second)
	}
	if by.Now.Sub(renewed.Time) > 2*duration || out.Holder == "" {
		out.Absent = fmt.Sprintf("no controller has renewed the Lease %s since %s", name, renewed.UTC().Format(time.RFC3339))
	}
	return out
}

// defaultLeaseDuration is that of Kubernetes' leader election.
const defaultLeaseDuration = 15 * time.Second
