package props

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// classes returns the classes that the controller and the plan serve.
func (p *pair) classes() service.Classes {
	out := p.target.Settings.Serves(p.target.Cloud.Classes)
	out.Official = p.target.Cloud.Outputs.ClassFinalizers
	return out
}

// job is the controller's on a Service as the API server has it; nil: it is left alone.
func (p *pair) job(name string) *reconcile.Job {
	svc := p.cluster.get(name)
	switch p.classes().Claim(svc) {
	case service.Released:
		return &reconcile.Job{Service: svc, Release: true}
	case service.Served:
		job := service.JobOf(svc, p.process.r.Outputs())
		job.Slices = slicesOf(p.subject, svc)
		return job
	default:
		return nil
	}
}

// round is one visit of the controller: it claims a Service, plans, runs, and writes what
// the Service carries of it. Every gate is open.
func (p *pair) round(name string) reconcile.Result {
	p.t.Helper()
	job := p.job(name)
	if job == nil {
		return reconcile.Result{}
	}
	if !job.Release {
		fresh := job.NeverProvisioned
		p.patch(name, p.classes().Hold(job.Service))
		job = p.job(name)
		job.NeverProvisioned = fresh
	}
	ctx := context.WithoutCancel(p.t.Context())
	draft, err := p.process.r.Draft(ctx, *job)
	if err != nil {
		p.tell("%s: %v", name, err)
		return reconcile.Result{Err: err}
	}
	res := p.process.r.Run(ctx, draft, func(plan.Gate) time.Duration { return 0 })
	switch {
	case res.Released:
		p.cluster.remove(name)
	case !job.Release:
		p.patch(name, p.classes().Marks(job.Service, res, p.process.r.Outputs()))
	}
	return res
}

// patch writes on a Service as the controller does.
func (p *pair) patch(name string, want status.Want) {
	p.t.Helper()
	want.Now = time.Now()
	old := p.cluster.get(name)
	body, differs := status.Patch(old, want)
	if !differs {
		return
	}
	before, err := json.Marshal(old)
	if err != nil {
		p.t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, body, corev1.Service{})
	if err != nil {
		p.t.Fatal(err)
	}
	next := &corev1.Service{}
	if err := json.Unmarshal(after, next); err != nil {
		p.t.Fatal(err)
	}
	p.cluster.put(next)
}
