package openstack_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/account"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestCalls measures the calls of Services whose load balancers are busy for 300 ms after each
// change. A node is one write for each pool.
func TestCalls(t *testing.T) {
	goals := account.Goals{"create": {2.6, 2}, "touch": {0, 0}, "port": {3.8, 3}, "delnode": {3.8, 3}, "addnode": {3.8, 3}, "delete": {2.6, 2}}
	for _, n := range []int{1, 10, 100} {
		virtual.Run(t, fmt.Sprint(n), func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{Busy: 300 * time.Millisecond, Seed: simopenstack.SeedOptions{Nodes: 4}}, "")
			life := account.Life{Control: w.Control(), Process: w.process, Nodes: w.nodes, Work: func(svc *corev1.Service, release bool) {
				if release {
					w.release(svc)
				} else {
					w.serve(svc)
				}
			}}
			for i := range n {
				life.Services = append(life.Services, namedService(fmt.Sprintf("web-%d", i), int32(8000+10*i)))
			}
			life.Run(func(p account.Phase) { goals.Check(t, n, p, w.Control().Journal.Counts()) })
		})
	}
}
