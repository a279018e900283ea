package props

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// process is one life of the controller: what it knows ends with it.
type process struct {
	t testing.TB
	r *reconcile.Reconciler
	s Subject
}

// job is the work on a Service.
func (p *process) job(svc *corev1.Service) reconcile.Job {
	return reconcile.Job{Service: svc, Slices: slicesOf(p.s, svc), Objects: objectsOf(p.s)}
}

// startProcess starts a process that observes the nodes and these Services.
func startProcess(t testing.TB, s Subject, nodes []nodeports.Node, services ...*corev1.Service) *process {
	t.Helper()
	p := &process{t: t, s: s}
	var jobs []reconcile.Job
	for _, svc := range services {
		jobs = append(jobs, p.job(svc))
	}
	p.r = Process(t, s.Open(t), nodes, jobs...)
	return p
}

// once plans and runs a Service one time. Every gate is open.
func (p *process) once(ctx context.Context, svc *corev1.Service, release bool) (reconcile.Result, error) {
	job := p.job(svc)
	job.Release = release
	return Work(ctx, p.r, job)
}

// rounds is how often a Service may be looked at until it is as wanted.
const rounds = 12

// converge runs a Service until nothing is left to do.
func (p *process) converge(svc *corev1.Service, release bool) {
	p.t.Helper()
	var last reconcile.Result
	var err error
	for range rounds {
		last, err = p.once(p.t.Context(), svc, release)
		if err == nil && (last.Released || !release && last.Clean) {
			if !release && len(last.Status.Ingress) == 0 {
				p.t.Errorf("%s: all is as desired, and no address is reported", svc.Name)
			}
			return
		}
	}
	if err == nil && last.Draft != nil {
		p.t.Fatalf("%s: not there after %d rounds: err %v, problems %v, held %v, plan %v",
			svc.Name, rounds, last.Err, last.Draft.Problems, last.Draft.Plan.Blocked, stepIDs(last.Draft.Plan))
	}
	p.t.Fatalf("%s: not there after %d rounds: %v", svc.Name, rounds, err)
}

func stepIDs(p plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.ID.String())
	}
	return out
}

// nothingToDo fails unless a process that knows nothing finds nothing to do.
func nothingToDo(t testing.TB, s Subject, nodes []nodeports.Node, svc *corev1.Service) {
	t.Helper()
	p := startProcess(t, s, nodes, svc)
	d, err := p.r.Draft(t.Context(), p.job(svc))
	if err != nil {
		t.Fatal(err)
	}
	if !d.Plan.Empty() {
		t.Fatalf("%s: the plan of a new process is not empty:\n%s", svc.Name, plan.Human(plan.NewDocument("test", []plan.Plan{d.Plan}), plan.Options{}))
	}
}

// countWrites counts the write calls since the last reset of the journal.
func countWrites(s Subject) int { return s.Control().Journal.Writes() }
