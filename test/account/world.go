package account

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/rest"
)

// World is an account and one process that serves Services in it.
type World[S Simulator] struct {
	testing.TB
	Subject[S]
	Machines []nodeports.Node                         // the Nodes that a process starts with
	Slices   []*discoveryv1.EndpointSlice             // the endpoints of each Service
	Given    map[providers.Reference]providers.Object // the objects that Services name
	Process  *reconcile.Reconciler
}

// Begin starts an account and a process.
func (c Cloud[O, S]) Begin(t testing.TB, opt O) *World[S] {
	t.Helper()
	w := &World[S]{TB: t, Subject: c.Subject(t, opt)}
	w.Machines = w.Nodes()
	w.Restart()
	return w
}

// Restart starts a new process without records, which has read these Services.
func (w *World[S]) Restart(known ...*corev1.Service) {
	w.Helper()
	var jobs []reconcile.Job
	for _, svc := range known {
		jobs = append(jobs, reconcile.Job{Service: svc})
	}
	w.Process = props.Process(w, w.Open(w.TB), w.Machines, jobs...)
}

// Once plans and runs a Service one time, and writes on it what the loop would write.
func (w *World[S]) Once(svc *corev1.Service, release bool) (reconcile.Result, error) {
	w.Helper()
	res, err := props.Work(w.Context(), w.Process, reconcile.Job{Service: svc.DeepCopy(), Release: release, Slices: w.Slices, Objects: w.Given})
	if err == nil && !release && res.Draft.Want != nil {
		svc.Status.LoadBalancer.Ingress = res.Status.Ingress
		svc.Annotations = mergeMaps(mergeMaps(svc.Annotations, res.Status.Early), res.Status.Annotations)
		svc.Labels = mergeMaps(svc.Labels, res.Status.Labels)
	}
	return res, err
}

// mergeMaps returns a map with more values; the given one is not changed.
func mergeMaps(into, more map[string]string) map[string]string {
	if len(more) == 0 {
		return into
	}
	out := map[string]string{}
	maps.Copy(out, into)
	maps.Copy(out, more)
	return out
}

// rounds is how often a Service may be worked on until nothing is left to do.
const rounds = 12

// Serve works on a Service until it has its desired state.
func (w *World[S]) Serve(svc *corev1.Service) reconcile.Result {
	w.Helper()
	var last reconcile.Result
	var err error
	for range rounds {
		if last, err = w.Once(svc, false); err == nil && last.Clean {
			return last
		}
	}
	w.Fatalf("%s: not served: %v, %v", svc.Name, err, last.Err)
	return last
}

// Release works on a Service until nothing of it is left.
func (w *World[S]) Release(svc *corev1.Service) {
	w.Helper()
	var last reconcile.Result
	var err error
	for range rounds {
		if last, err = w.Once(svc, true); err == nil && last.Released {
			return
		}
		time.Sleep(last.Wait) // of virtual time where the cloud takes long
	}
	w.Fatalf("%s: not released: %v, %v", svc.Name, err, last.Err)
}

// Objects returns all objects of a collection of the account's state.
func (w *World[S]) Objects(collection string) []rest.Object {
	w.Helper()
	raw, err := json.Marshal(w.Control().State())
	if err != nil {
		w.Fatal(err)
	}
	var all map[string][]rest.Object
	if err := json.Unmarshal(raw, &all); err != nil {
		w.Fatal(err)
	}
	return all[collection]
}
