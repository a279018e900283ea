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

// together works on all Services at once until nothing is left to do, and returns how
// long that took.
func (c *crowd) together(t *testing.T, release bool) time.Duration {
	t.Helper()
	begun := time.Now()
	var wg sync.WaitGroup
	for _, svc := range c.all {
		wg.Go(func() {
			runUntilDone(t, c.subject, c.process, reconcile.Job{Service: svc.DeepCopy(), Release: release, NeverProvisioned: !c.served})
		})
	}
	wg.Wait()
	c.served = true
	return time.Since(begun)
}

// goalOf is the most that a phase may cost a Service: all calls, and writes. Ten Services
// share what is looked up as a hundred do, so that it costs each of them ten times as much.
func goalOf(mode, phase string, n int) [2]float64 {
	goal := map[string]map[string][2]float64{
		"SL-All": {"create": {1.2, 1.03}, "touch": {0, 0}, "port": {3.2, 2.4}, "delnode": {3.5, 3}, "addnode": {3.5, 3}, "delete": {1.1, 1.03}},
		"None":   {"create": {1.3, 1}, "touch": {0, 0}, "port": {2.4, 2}, "delnode": {3.4, 3}, "addnode": {3.4, 3}, "delete": {1.3, 1}},
	}
	if n == 10 {
		goal["SL-All"]["create"], goal["SL-All"]["delete"], goal["None"]["delete"] = [2]float64{2, 1.3}, [2]float64{1.7, 1.3}, [2]float64{1.4, 1}
	}
	return goal[mode][phase]
}

// TestCalls measures the calls, and the writes among them, per Service while Services are
// created, changed and deleted at once; work requests take 300 ms. A single Service cannot
// share lists and requests, so its numbers are only logged.
func TestCalls(t *testing.T) {
	for _, kind := range []string{"lb", "nlb"} {
		for _, mode := range []string{"SL-All", "None"} {
			for _, n := range []int{1, 10, 100} {
				virtual.Run(t, fmt.Sprint(kind, " ", mode, " ", n), func(t *testing.T) {
					c := newCrowd(t, n, kind, mode, 300*time.Millisecond)
					c.life(t, func(phase string, calls, writes float64, took time.Duration) {
						t.Logf("%s of %d: %.2f calls a Service, %.2f of them writes, %v: %v", phase, n, calls, writes, took, c.Control().Journal.Counts())
						if most := goalOf(mode, phase, n); n > 1 && (writes > most[1] || calls > most[0]) {
							t.Errorf("%s of %d: %.2f (%.2f), want at most %.2f (%.2f)", phase, n, calls, writes, most[0], most[1])
						}
					})
				})
			}
		}
	}
}

// life takes all Services through what can happen to them, and tells what each phase has
// cost a Service.
func (c *crowd) life(t *testing.T, tell func(phase string, calls, writes float64, took time.Duration)) {
	t.Helper()
	phase := func(name string, release bool) {
		c.Control().Journal.Reset()
		took := c.together(t, release)
		n := float64(len(c.all))
		tell(name, float64(len(c.Control().Journal.Entries()))/n, float64(c.Control().Journal.Writes())/n, took)
	}
	nodes := c.Nodes()
	time.Sleep(time.Minute) // a new process reads shared resources a second time
	phase("create", false)
	phase("touch", false)
	c.addPort()
	phase("port", false)
	c.process.SetNodes(nodes[1:])
	phase("delnode", false)
	c.process.SetNodes(nodes)
	phase("addnode", false)
	phase("delete", true)
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
		c.together(t, false)
		c.addPort()
		c.together(t, false)
		c.Control().Journal.Reset()
		var wg sync.WaitGroup
		for i, svc := range c.all {
			wg.Go(func() {
				time.Sleep(time.Duration(8*i) * time.Millisecond)
				runUntilDone(t, c.subject, c.process, reconcile.Job{Service: svc.DeepCopy(), Release: true})
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
		c.together(t, false)
		for _, svc := range c.all {
			svc.Spec.Ports = svc.Spec.Ports[:1]
			svc.Spec.Ports[0].NodePort++
		}
		if _, err := c.Control().Faults.Add(sim.Fault{Operation: "UpdateBackendSet", After: 2, Count: 3, Kind: sim.FaultError, Status: http.StatusOK}); err != nil {
			t.Fatal(err)
		}
		c.Control().Journal.Reset()
		if took := c.together(t, false); took > 10*time.Second {
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
			newCrowd(t, 100, kind, "SL-All", work).life(t, func(phase string, calls, _ float64, took time.Duration) {
				t.Logf("%s: %v, %.2f calls a Service", phase, took, calls)
				if most := float64(chain[phase]) + 1; calls > most {
					t.Errorf("%s: %.2f calls a Service, want at most %.2f", phase, calls, most)
				}
				if most := time.Duration(chain[phase]) * work * 4 / 3; took > most {
					t.Errorf("%s took %v, want at most %v", phase, took, most)
				}
			})
		})
	}
}
