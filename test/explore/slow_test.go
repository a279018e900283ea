package explore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/kit"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
)

// TestDeletedWhileOperationsGoOn: Services that are deleted during the operations for a
// deleted node, after a restart, no longer exist three minutes later, at whatever moment they
// are deleted.
func TestDeletedWhileOperationsGoOn(t *testing.T) {
	slow := func(t testing.TB) Subject {
		return newGoogle(t, compute.Options{QuotaFactor: 100, OperationDelay: 12 * time.Second}, kit.DefaultShare, simgce.RealThrottle()...)
	}
	for kind, shape := range map[string]Shape{"target pool": nil, "netlb": listClouds()["gce netlb"].shape} {
		for _, after := range []time.Duration{0, 3700 * time.Millisecond, 12500 * time.Millisecond} {
			t.Run(fmt.Sprint(kind, " ", after), func(t *testing.T) {
				performOn(t, slow, func(s *stage) { s.deleteAfterRestart(shape, after) })
			})
		}
	}
}

// deleteAfterRestart deletes Services some time after the start of a process that missed the
// deletion of a node, and judges what remains of them.
func (s *stage) deleteAfterRestart(shape Shape, after time.Duration) {
	const many = 10
	empty := s.state()
	s.start()
	name := func(i int) string { return strings.Repeat("w", i+1) }
	for i := range many {
		Create(name(i), shape).Do(s.world)
	}
	time.Sleep(5 * time.Minute)
	for i := range many {
		if s.address(name(i)) == "" {
			s.t.Fatalf("no load balancer: %v", s.get(name(i)).Status.Conditions)
		}
	}
	NodeLeaves().Do(s.world)
	time.Sleep(4 * time.Second)
	first := s.processes[0]
	first.cancel()
	<-first.done
	NodeLeaves().Do(s.world)
	s.start()
	time.Sleep(after)
	for i := range many {
		Delete(name(i)).Do(s.world)
	}
	time.Sleep(3 * time.Minute)
	for _, svc := range s.kube.all() {
		s.t.Errorf("%s is still there: %v", svc.Name, svc.Status.Conditions)
	}
	if d := diffLines(empty, s.state()); d != "" {
		s.t.Errorf("something is left (-before +after):\n%s", d)
	}
}
