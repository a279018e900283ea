package oci_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// crowd are Services of one kind in one tenancy, and a process that serves them.
type crowd struct {
	subject
	process *reconcile.Reconciler
	all     []*corev1.Service
	served  bool // once
}

func newCrowd(t *testing.T, n int, kind, mode string, work time.Duration) *crowd {
	t.Helper()
	c := &crowd{subject: subject{running: simtest.Start(t, simoci.Options{Work: work, Seed: simoci.SeedOptions{Nodes: 4}, Limits: simoci.Limits{ListRules: 10_000}})}}
	c.process = props.Process(t, c.Open(t), c.Nodes())
	svc := props.Service("web", annotationPairs(prefix+"load-balancer-type", kind, prefix+"security-rule-management-mode", mode)).Service
	for i := range n {
		one := renameService(svc, fmt.Sprintf("web-%d", i), int32(3*i))
		for at := range one.Spec.Ports { // clients come by the same ports, as they mostly do
			one.Spec.Ports[at].Port = svc.Spec.Ports[at].Port
		}
		c.all = append(c.all, one)
	}
	return c
}

// work works on a Service until nothing is left to do.
func (c *crowd) work(t *testing.T, svc *corev1.Service, release bool) {
	t.Helper()
	runUntilDone(t, c.subject, c.process, reconcile.Job{Service: svc.DeepCopy(), Release: release, NeverProvisioned: !c.served})
}

// together serves all Services at once, and returns how long that took.
func (c *crowd) together(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	var wg sync.WaitGroup
	for _, svc := range c.all {
		wg.Go(func() { c.work(t, svc, false) })
	}
	wg.Wait()
	c.served = true
	return time.Since(began)
}

// goalsOf returns the goals for a number of Services. Ten Services share what is looked up as
// a hundred do, so that it costs each of them ten times as much.
func goalsOf(mode string, n int) account.Goals {
	goals := map[string]account.Goals{
		"SL-All": {"create": {1.2, 1.03}, "touch": {0, 0}, "port": {3.2, 2.4}, "delnode": {3.5, 3}, "addnode": {3.5, 3}, "delete": {1.1, 1.03}},
		"None":   {"create": {1.3, 1}, "touch": {0, 0}, "port": {2.4, 2}, "delnode": {3.4, 3}, "addnode": {3.4, 3}, "delete": {1.3, 1}},
	}
	if n == 10 {
		goals["SL-All"]["create"], goals["SL-All"]["delete"], goals["None"]["delete"] = [2]float64{2, 1.3}, [2]float64{1.7, 1.3}, [2]float64{1.4, 1}
	}
	return goals[mode]
}

// TestCalls measures the calls of Services whose work requests take 300 ms. A single Service
// cannot share lists and requests, so its numbers are only logged.
func TestCalls(t *testing.T) {
	for _, kind := range []string{"lb", "nlb"} {
		for _, mode := range []string{"SL-All", "None"} {
			for _, n := range []int{1, 10, 100} {
				virtual.Run(t, fmt.Sprint(kind, " ", mode, " ", n), func(t *testing.T) {
					c := newCrowd(t, n, kind, mode, 300*time.Millisecond)
					c.life(t, func(p account.Phase) {
						if n == 1 {
							t.Logf("%+v: %v", p, c.Control().Journal.Counts())
							return
						}
						goalsOf(mode, n).Check(t, n, p, c.Control().Journal.Counts())
					})
				})
			}
		}
	}
}

// life runs the phases of account.Life with all Services.
func (c *crowd) life(t *testing.T, report func(account.Phase)) {
	t.Helper()
	time.Sleep(time.Minute) // a new process reads shared resources a second time
	life := account.Life{Control: c.Control(), Process: c.process, Nodes: c.Nodes(), Services: c.all, Work: func(svc *corev1.Service, release bool) {
		c.work(t, svc, release)
	}}
	life.Run(func(p account.Phase) {
		c.served = true
		report(p)
	})
}

// addPort gives each Service a third port.
func (c *crowd) addPort() {
	for _, svc := range c.all {
		third := svc.Spec.Ports[1]
		third.Name, third.Port, third.NodePort = "third", third.Port+1, third.NodePort+1
		svc.Spec.Ports = append(slices.Clone(svc.Spec.Ports), third)
	}
}

// TestDeletedInARow: Services that are deleted a few milliseconds after each other share
// writes of security lists as those do that are deleted at once, although nothing has to be
// read before.
func TestDeletedInARow(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newCrowd(t, 10, "lb", "SL-All", 300*time.Millisecond)
		time.Sleep(time.Minute)
		c.together(t)
		c.addPort()
		c.together(t)
		c.Control().Journal.Reset()
		var wg sync.WaitGroup
		for i, svc := range c.all {
			wg.Go(func() {
				time.Sleep(time.Duration(8*i) * time.Millisecond)
				c.work(t, svc, true)
			})
		}
		wg.Wait()
		counts := c.Control().Journal.Counts()
		if counts["core.UpdateSecurityList"] > 3 || counts["core.GetSecurityList"] > 0 {
			t.Errorf("calls: %v", counts)
		}
	})
}

// TestFailedAmongMany verifies that a failed change of a load balancer, which no list
// shows, is detected although the lists show the changes of others, and that it is retried.
func TestFailedAmongMany(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := newCrowd(t, 10, "lb", "None", 300*time.Millisecond)
		c.together(t)
		for _, svc := range c.all {
			svc.Spec.Ports = svc.Spec.Ports[:1]
			svc.Spec.Ports[0].NodePort++
		}
		if _, err := c.Control().Faults.Add(sim.Fault{Operation: "UpdateBackendSet", After: 2, Count: 3, Kind: sim.FaultError, Status: http.StatusOK}); err != nil {
			t.Fatal(err)
		}
		c.Control().Journal.Reset()
		if took := c.together(t); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
		counts := c.Control().Journal.Counts()
		if counts["loadbalancer.UpdateBackendSet"] != 13 || counts["loadbalancer.GetWorkRequest"] == 0 {
			t.Errorf("calls: %v", counts)
		}
	})
}

// TestSlowWork: with work requests of ten seconds a hundred Services take as long as the
// longest chain of work requests of one, and a third more until that is noticed.
func TestSlowWork(t *testing.T) {
	const work = 10 * time.Second
	chain := map[string]int{"create": 1, "port": 2, "delnode": 3, "addnode": 3, "delete": 1}
	for _, kind := range []string{"lb", "nlb"} {
		virtual.Run(t, kind, func(t *testing.T) {
			newCrowd(t, 100, kind, "SL-All", work).life(t, func(p account.Phase) {
				t.Logf("%+v", p)
				if most := float64(chain[p.Name]) + 1; p.Calls > most {
					t.Errorf("%s: %.2f calls a Service, want at most %.2f", p.Name, p.Calls, most)
				}
				if most := time.Duration(chain[p.Name]) * work * 4 / 3; p.Took > most {
					t.Errorf("%s took %v, want at most %v", p.Name, p.Took, most)
				}
			})
		})
	}
}
