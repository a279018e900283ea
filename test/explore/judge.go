package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/props"
)

// judge looks at a world from outside: its calls are neither held nor disturbed.
type judge struct {
	w      *world
	ctx    context.Context //nolint:containedctx // of the schedule
	began  time.Time
	before string              // the cloud as it was
	served map[string]servedAs // by the UID of the Service
	gone   int                 // deleted Services that were judged
	// elsewhere are the Services that had another controller's address at the last step.
	elsewhere map[string]bool
	// left are the addresses that Services had when they asked for another controller: one
	// of Berth's may stay there that no process remembers to have written.
	left map[string]string
}

// servedAs is where a Service is reached.
type servedAs struct {
	shape, address string
	moves          bool // the shape has changed since, and the address may
}

func newJudge(ctx context.Context, w *world) (*judge, error) {
	before, err := props.StateOf(w.subject.Control)
	return &judge{w: w, ctx: ctx, began: time.Now(), before: before, served: map[string]servedAs{}, elsewhere: map[string]bool{}, left: map[string]string{}}, err
}

// draft plans for a Service as a process would that knows nothing but the cluster. deep
// has all be compared, whatever the Service says of what was applied.
func (j *judge) draft(svc *corev1.Service, release, deep bool) (*reconcile.Draft, error) {
	bound, err := j.w.subject.Open(j.ctx, "http://judge-cloud."+j.w.name)
	if err != nil {
		return nil, err
	}
	r := reconcile.New(bound, reconcile.Options{Now: time.Now, GatherReleases: time.Millisecond})
	r.SetNodes(j.w.projected())
	for _, other := range j.w.kube.all() {
		if other.UID != svc.UID && other.Spec.Type == corev1.ServiceTypeLoadBalancer && !handedOver(other) {
			// One on its way out, too, still holds what it shares. What cannot be drafted wants nothing that is known; its own turn tells.
			other = other.DeepCopy()
			other.DeletionTimestamp = nil
			_, _ = r.Draft(j.ctx, *service.JobOf(other, r.Outputs()))
		}
	}
	r.AllKnown()
	job := service.JobOf(svc, r.Outputs())
	job.Release, job.NeverProvisioned = release, false
	if deep {
		job.Applied = ""
	}
	return r.Draft(j.ctx, *job)
}

// glance runs at every step: no serving load balancer loses a part, and no finalizer is
// removed before the resources that it protects are deleted.
func (j *judge) glance(report *Report) {
	for _, svc := range j.w.kube.all() {
		uid := string(svc.UID)
		if j.elsewhere[uid] && addressOf(svc) == "" && svc.DeletionTimestamp == nil && handedOver(svc) {
			report.fault("the address that another controller wrote for %s is taken away", svc.Name)
		}
		j.elsewhere[uid] = reachedElsewhere(svc)
		switch {
		case handedOver(svc):
			j.served[uid], j.left[uid] = servedAs{moves: true}, addressOf(svc)
		case svc.Spec.Type != corev1.ServiceTypeLoadBalancer, svc.DeletionTimestamp != nil:
			j.served[uid] = servedAs{moves: true} // it asks for no address for now
		case j.w.wasStripped(svc) && j.w.hasForgotten():
			j.served[uid] = servedAs{moves: true} // a late deletion of the process that released the first one may take its load balancer
		case j.w.wroteLate(svc): // the successor puts it right, or the end is another one
		case !j.elsewhere[uid]: // else the other one has a say, and Berth puts its own address back
			j.reached(svc, report)
		}
	}
	for _, svc := range j.newlyGone(report) {
		j.judgeGone(svc, report)
	}
}

// newlyGone returns the Services that do not exist any more since the last look, and reports
// what the world has seen of forbidden writes.
func (j *judge) newlyGone(report *Report) []*corev1.Service {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if j.w.hurried != "" {
		report.fault("%s is written to more than %d times within a minute", j.w.hurried, mostPatches)
	}
	if j.w.trespass != "" {
		report.fault("%s", j.w.trespass)
	}
	gone := slices.Clone(j.w.gone[j.gone:])
	j.gone = len(j.w.gone)
	return gone
}

// judgeGone reports what a Service that does not exist any more has left.
func (j *judge) judgeGone(svc *corev1.Service, report *Report) {
	if j.w.wasStripped(svc) {
		return // no finalizer could hold it, or an earlier one of its name is still being released
	}
	d, err := j.draft(svc, true, false)
	if err != nil {
		report.fault("%s was deleted, and its draft failed: %v", svc.Name, err)
		return
	}
	if slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool { return s.ID.Action != plan.Forget }) {
		report.fault("%s was deleted, and resources of it are left:\n%s", svc.Name, formatPlan(d))
	}
}

// reached follows where a Service is reached: that changes once for each change of its
// shape, and for nothing else.
func (j *judge) reached(svc *corev1.Service, report *Report) {
	now := servedAs{shape: shapeOf(svc), address: addressOf(svc)}
	if now.address != "" && len(svc.Finalizers) == 0 && now.address != j.left[string(svc.UID)] {
		report.fault("%s is reached at %s, and no finalizer holds it", svc.Name, now.address)
	}
	was, known := j.served[string(svc.UID)]
	now.moves = was.moves || known && was.shape != now.shape
	if was.address != "" && was.address != now.address {
		if !now.moves {
			report.fault("%s was reached at %s and is at %q now, without a change of its shape", svc.Name, was.address, now.address)
		}
		now.moves = now.moves && (now.address == "" || was.shape != now.shape)
	}
	j.served[string(svc.UID)] = now
}

// shapeOf is what decides which load balancer a Service has.
func shapeOf(svc *corev1.Service) string {
	return fmt.Sprint(svc.Annotations["example.com/shape"], svc.Spec.LoadBalancerClass, svc.Spec.LoadBalancerIP)
}

func addressOf(svc *corev1.Service) string {
	out := ""
	for _, in := range svc.Status.LoadBalancer.Ingress {
		out += in.IP + in.Hostname + " "
	}
	return out
}

func formatPlan(d *reconcile.Draft) string {
	return plan.Human(plan.NewDocument("explore", []plan.Plan{d.Plan}), plan.Options{})
}

// calm is judged when nothing has happened for a while: of a Service that says that its load
// balancer is as wanted, nothing is missing.
func (j *judge) calm(report *Report) {
	for _, svc := range j.w.kube.all() {
		programmed := slices.ContainsFunc(svc.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == status.TypeProgrammed && c.Status == metav1.ConditionTrue
		})
		if !programmed || svc.Spec.Type != corev1.ServiceTypeLoadBalancer || svc.DeletionTimestamp != nil || handedOver(svc) {
			continue
		}
		d, err := j.draft(svc, false, true)
		if err != nil {
			report.fault("%s: %v", svc.Name, err)
			continue
		}
		if slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool { return s.ID.Action == plan.Create }) {
			report.fault("%s says that its load balancer is as wanted, and something is missing:\n%s", svc.Name, formatPlan(d))
		}
	}
}

// settled is judged when everything has come to rest: every Service is as it wants.
func (j *judge) settled(report *Report) {
	for _, svc := range j.w.kube.all() {
		if svc.Spec.Type != corev1.ServiceTypeLoadBalancer || handedOver(svc) {
			continue
		}
		d, err := j.draft(svc, false, false)
		switch {
		case err != nil:
			report.fault("%s: %v", svc.Name, err)
		case !d.Plan.Empty():
			report.fault("all is at rest, and %s is not as it wants:\n%s", svc.Name, formatPlan(d))
		case addressOf(svc) == "", reachedElsewhere(svc):
			report.fault("all is at rest, and %s has no address of Berth's: %q", svc.Name, addressOf(svc))
		}
	}
}

// end is judged when all is done: no Service is left that was deleted, and the cloud is
// as it was before.
func (j *judge) end(report *Report) {
	if j.w.hasForgotten() {
		return
	}
	for _, svc := range j.w.kube.all() {
		if svc.DeletionTimestamp != nil {
			report.fault("%s still exists, with the finalizers %v", svc.Name, svc.Finalizers)
		}
	}
	after, err := props.StateOf(j.w.subject.Control)
	if err != nil {
		report.fault("%v", err)
	} else if after != j.before {
		report.fault("the cloud is not as it was before (-before +after):\n%s", diffLines(j.before, after))
	}
}
