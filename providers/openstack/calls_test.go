package openstack_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestCalls measures the calls, and the writes among them, per Service while Services are
// created, changed and deleted at once; load balancers are busy for 300 ms after each
// change. A node is one write for each pool. A single Service cannot share lists and
// requests, so its limit is on the number of writes.
func TestCalls(t *testing.T) {
	goals := map[string][2]float64{"create": {2.6, 2}, "touch": {0, 0}, "port": {3.8, 3}, "delnode": {3.8, 3}, "addnode": {3.8, 3}, "delete": {2.6, 2}}
	for _, n := range []int{1, 10, 100} {
		virtual.Run(t, fmt.Sprint(n), func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{Busy: 300 * time.Millisecond, Seed: simopenstack.SeedOptions{Nodes: 4}}, "")
			var all []*corev1.Service
			for i := range n {
				all = append(all, namedService(fmt.Sprintf("web-%d", i), int32(8000+10*i)))
			}
			phase := func(name string, work func(*corev1.Service)) {
				w.Control().Journal.Reset()
				var wg sync.WaitGroup
				for _, svc := range all {
					wg.Go(func() { work(svc) })
				}
				wg.Wait()
				var calls, writes float64
				for _, e := range w.Control().Journal.Entries() {
					calls++
					if e.Write {
						writes++
					}
				}
				calls, writes = calls/float64(n), writes/float64(n)
				t.Logf("%s of %d: %.2f calls a Service, %.2f of them writes: %v", name, n, calls, writes, w.Control().Journal.Counts())
				if most := goals[name]; writes > most[1] || n > 1 && calls > most[0] {
					t.Errorf("%s of %d: %.2f (%.2f), want at most %.2f (%.2f)", name, n, calls, writes, most[0], most[1])
				}
			}
			serve := func(svc *corev1.Service) { w.serve(svc) }
			nodes := w.nodes
			phase("create", serve)
			phase("touch", serve)
			for _, svc := range all {
				third := svc.Spec.Ports[1]
				third.Name, third.Port, third.NodePort = "third", third.Port+1, third.NodePort+1
				svc.Spec.Ports = append(slices.Clone(svc.Spec.Ports), third)
			}
			phase("port", serve)
			w.process.SetNodes(nodes[1:])
			phase("delnode", serve)
			w.process.SetNodes(nodes)
			phase("addnode", serve)
			phase("delete", w.release)
		})
	}
}
