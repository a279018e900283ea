package alibaba_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// world is a simulated account and one process that serves Services in it.
type world struct {
	testing.TB
	subject
	nodes   []nodeports.Node
	process *reconcile.Reconciler
}

// beginWorld starts an account, and a process.
func beginWorld(t testing.TB, opt simalibaba.Options) *world {
	t.Helper()
	w := &world{TB: t, subject: startCloud(t, opt)}
	w.nodes = w.Nodes()
	w.restart()
	return w
}

// restart starts a new process, which has no memory.
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
	if err == nil && !release && res.Draft.Want != nil {
		svc.Status.LoadBalancer.Ingress = res.Status.Ingress
	}
	return res, err
}

// rounds is how often a Service may be worked on until nothing is left to do.
const rounds = 12

// serve works on a Service until it is in its desired state.
func (w *world) serve(svc *corev1.Service) reconcile.Result {
	w.Helper()
	var last reconcile.Result
	var err error
	for range rounds {
		if last, err = w.once(svc, false); err == nil && last.Clean {
			return last
		}
	}
	w.Fatalf("%s: not served: %v, %v", svc.Name, err, last.Err)
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
		time.Sleep(last.Wait) // of virtual time
	}
	w.Fatalf("%s: not released: %v, %v", svc.Name, err, last.Err)
}

// uidOf returns a UID of its own for each number. The last digit does not count, because default
// names are cut.
func uidOf(n int) types.UID {
	return types.UID(fmt.Sprintf("5a0c1f6e-0000-4000-8000-%011d0", n+1))
}
