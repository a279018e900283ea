package openstack_test

import (
	"encoding/json"
	stderrors "errors"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/openstack/simtest"
)

// world is a simulated project and one process that serves Services in it.
type world struct {
	testing.TB
	subject
	nodes   []nodeports.Node
	process *reconcile.Reconciler
}

// startWorld starts a project of three nodes, and a process. The configuration is added
// to the section LoadBalancer.
func startWorld(t testing.TB, opt simopenstack.Options, config string) *world {
	t.Helper()
	if opt.Seed.Nodes == 0 {
		opt.Seed.Nodes = 3
	}
	w := &world{TB: t, subject: subject{running: simtest.Start(t, opt), config: config}}
	w.nodes = w.Nodes()
	w.restart()
	return w
}

// restart begins a new process, which knows nothing.
func (w *world) restart(known ...*corev1.Service) {
	w.Helper()
	var jobs []reconcile.Job
	for _, svc := range known {
		jobs = append(jobs, reconcile.Job{Service: svc})
	}
	w.process = props.Process(w, w.Open(w.TB), w.nodes, jobs...)
}

// once plans and runs a Service one time, and writes on it what the loop would write.
func (w *world) once(svc *corev1.Service, release bool) (reconcile.Result, error) {
	w.Helper()
	res, err := props.Work(w.Context(), w.process, reconcile.Job{Service: svc.DeepCopy(), Release: release})
	if err != nil || release || res.Draft.Want == nil {
		return res, err
	}
	svc.Status.LoadBalancer.Ingress = res.Status.Ingress
	for k, v := range res.Status.Annotations {
		if svc.Annotations == nil {
			svc.Annotations = map[string]string{}
		}
		svc.Annotations[k] = v
	}
	return res, nil
}

// rounds is how often a Service may be worked on until nothing is left to do.
const rounds = 12

// serve works on a Service until all is as wanted.
func (w *world) serve(svc *corev1.Service) reconcile.Result {
	w.Helper()
	var last reconcile.Result
	var err error
	for range rounds {
		if last, err = w.once(svc, false); err == nil && last.Clean {
			return last
		}
	}
	var held []string
	if last.Draft != nil {
		for _, h := range last.Draft.Plan.Blocked {
			held = append(held, h.Step.ID.String()+": "+h.Why)
		}
	}
	w.Fatalf("%s: not served: %v, %v, problems %v, held %v", svc.Name, err, last.Err, messagesOf(last), held)
	return last
}

// release works on a Service until nothing of it is left.
func (w *world) release(svc *corev1.Service) {
	w.Helper()
	var last reconcile.Result
	var err error
	for range rounds {
		if last, err = w.once(svc, true); err == nil && last.Released {
			return
		}
	}
	w.Fatalf("%s: not released: %v, %v", svc.Name, err, last.Err)
}

// messagesOf returns the messages to the user: problems, and failures.
func messagesOf(r reconcile.Result) []string {
	var out []string
	if r.Draft != nil {
		for _, p := range r.Draft.Problems {
			out = append(out, p.Severity.String()+": "+p.String())
		}
	}
	var list interface{ WrappedErrors() []error }
	if stderrors.As(r.Err, &list) {
		for _, err := range list.WrappedErrors() {
			out = append(out, err.Error())
		}
	}
	return out
}

// tables are all objects of the cloud, by collection.
func (w *world) tables() map[string][]map[string]any {
	w.Helper()
	raw, err := json.Marshal(w.Control().State())
	if err != nil {
		w.Fatal(err)
	}
	var out map[string][]map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		w.Fatal(err)
	}
	return out
}

// withAnnotations returns a copy of a Service with more annotations.
func withAnnotations(svc *corev1.Service, more map[string]string) *corev1.Service {
	out := svc.DeepCopy()
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	maps.Copy(out.Annotations, more)
	return out
}
