package props

import (
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
)

// patience is how often a Service is worked on that waits for another one to go.
const patience = 200

// testRenamed: a Service is deleted while another one with the same specification is created.
// Whichever writing call of the deletion is running by then, nothing that the new one needs
// is deleted with the old one.
func testRenamed(t *testing.T, fresh New, c Case) {
	total := deletionOf(t, fresh, c)
	for k := 0; k < total; k += max(1, total/4) {
		s := fresh(t)
		before := cloudState(t, s)
		p := startProcess(t, s, s.Nodes(), c.Service)
		p.converge(c.Service, false)
		next := renameService(c.Service)
		s.Control().Journal.Reset()
		slow := sim.Fault{WritesOnly: true, After: k, Count: 1, Kind: sim.FaultLatency, Latency: 300 * time.Millisecond}
		if _, err := s.Control().Faults.Add(slow); err != nil {
			t.Fatal(err)
		}
		var going sync.WaitGroup
		going.Go(func() { p.persist(c.Service, true) })
		for s.Control().Journal.Writes() < k {
			time.Sleep(time.Millisecond)
		}
		p.persist(next, false)
		going.Wait()
		s.Control().Faults.Clear()
		nothingToDo(t, s, s.Nodes(), next)
		p.converge(next, true)
		if after := cloudState(t, s); before != after {
			t.Errorf("after call %d of the deletion: something is left over", k)
		}
	}
}

// again is how long it takes until a Service is worked on again.
const again = 50 * time.Millisecond

// persist works on a Service until nothing is left to do, whatever fails meanwhile.
func (p *process) persist(svc *corev1.Service, release bool) {
	var last reconcile.Result
	var err error
	for range patience {
		if last, err = p.once(p.t.Context(), svc, release); err == nil && (last.Released || !release && last.Clean) {
			return
		}
		time.Sleep(again)
	}
	p.t.Errorf("%s: not there: errors %v, %v", svc.Name, err, last.Err)
}

// deletionOf is how many writing calls the deletion of a case takes.
func deletionOf(t *testing.T, fresh New, c Case) int {
	s := fresh(t)
	p := startProcess(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, false)
	s.Control().Journal.Reset()
	p.converge(c.Service, true)
	return countWrites(s)
}

// renameService returns a Service of another name with the same specification, as the
// API server completes it while the first one exists.
func renameService(svc *corev1.Service) *corev1.Service {
	out := svc.DeepCopy()
	out.Name, out.UID = svc.Name+"-2", "7b1d2e3f-0000-4000-8000-000000000002"
	for i := range out.Spec.Ports {
		out.Spec.Ports[i].NodePort += 100
	}
	if out.Spec.HealthCheckNodePort > 0 {
		out.Spec.HealthCheckNodePort += 100
	}
	return out
}
