package account

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Life is a number of Services that change at once.
type Life struct {
	Control  *sim.Control
	Process  *reconcile.Reconciler
	Nodes    []nodeports.Node
	Services []*corev1.Service
	// Work reconciles a Service until nothing is left to do, or deletes it.
	Work func(svc *corev1.Service, release bool)
	// Counts selects the calls of a Service; nil: all calls.
	Counts func(e sim.Entry) bool
}

// Phase is what one change has cost each Service.
type Phase struct {
	Name          string // create, touch, port, delnode, addnode or delete
	Calls, Writes float64
	Took          time.Duration
}

// Run creates the Services, reconciles them without a change, gives each a third port, removes
// and adds a node, and deletes them.
func (l Life) Run(report func(Phase)) {
	phase := func(name string, release bool) { report(l.together(name, release)) }
	phase("create", false)
	phase("touch", false)
	for _, svc := range l.Services {
		third := svc.Spec.Ports[1]
		third.Name, third.Port, third.NodePort = "third", third.Port+1, third.NodePort+1
		svc.Spec.Ports = append(slices.Clone(svc.Spec.Ports), third)
	}
	phase("port", false)
	l.Process.SetNodes(l.Nodes[1:])
	phase("delnode", false)
	l.Process.SetNodes(l.Nodes)
	phase("addnode", false)
	phase("delete", true)
}

// together works on all Services at the same time.
func (l Life) together(name string, release bool) Phase {
	l.Control.Journal.Reset()
	began := time.Now()
	var wg sync.WaitGroup
	for _, svc := range l.Services {
		wg.Go(func() { l.Work(svc, release) })
	}
	wg.Wait()
	p := Phase{Name: name, Took: time.Since(began)}
	for _, e := range l.Control.Journal.Entries() {
		if l.Counts != nil && !l.Counts(e) {
			continue
		}
		p.Calls++
		if e.Write {
			p.Writes++
		}
	}
	n := float64(len(l.Services))
	p.Calls, p.Writes = p.Calls/n, p.Writes/n
	return p
}

// Goals are the most calls, and the most writes among them, that a phase of [Life] may cost a
// Service.
type Goals map[string][2]float64

// Check logs a phase and fails the test if it is above the goal. A single Service shares no
// reads, so its goal is on writes alone.
func (g Goals) Check(t testing.TB, n int, p Phase, counts map[string]int) {
	t.Helper()
	t.Logf("%s of %d in %s: %.2f calls a Service, %.2f of them writes: %v", p.Name, n, p.Took, p.Calls, p.Writes, counts)
	if most := g[p.Name]; p.Writes > most[1] || n > 1 && p.Calls > most[0] {
		t.Errorf("%s of %d: %.2f (%.2f), want at most %.2f (%.2f)", p.Name, n, p.Calls, p.Writes, most[0], most[1])
	}
}

// Calls measures the calls of 1, 10 and 100 Services with two ports. No call may be refused,
// except that something does not exist.
func (c Cloud[O, S]) Calls(t *testing.T, opt O, goals Goals, counts func(e sim.Entry) bool) {
	for _, n := range []int{1, 10, 100} {
		virtual.Run(t, fmt.Sprint(n), func(t *testing.T) {
			w := c.Begin(t, opt)
			life := c.lifeOf(w, n)
			life.Counts = counts
			life.Run(func(p Phase) {
				goals.Check(t, n, p, w.Control().Journal.Counts())
				w.refusedNothing(p.Name)
			})
		})
	}
}

// lifeOf returns the life of a number of Services in an account. The process has the settings of the program:
// reads that end releases gather for as long.
func (c Cloud[O, S]) lifeOf(w *World[S], n int) Life {
	w.Helper()
	w.Process = reconcile.New(w.Open(w.TB), reconcile.Options{})
	w.Process.SetNodes(w.Machines)
	w.Process.AllKnown()
	life := Life{Control: w.Control(), Process: w.Process, Nodes: w.Machines, Work: func(svc *corev1.Service, release bool) {
		if release {
			w.Release(svc)
		} else {
			w.Serve(svc)
		}
	}}
	for i := range n {
		svc := c.complete(Numbered(i, nil))
		svc.CreationTimestamp = metav1.Now() // the process has seen all of its life
		life.Services = append(life.Services, svc)
	}
	return life
}

// refusedNothing fails the test if a call since the last reset of the journal was refused.
func (w *World[S]) refusedNothing(when string) {
	w.Helper()
	for _, e := range w.Control().Journal.Entries() {
		if isRefused(e) && e.Status != 404 {
			w.Errorf("%s: %s.%s was refused: %d %s", when, e.Service, e.Operation, e.Status, e.Code)
		}
	}
}

// isRefused reports whether a call was refused: some clouds refuse with status 200 and a code.
func isRefused(e sim.Entry) bool { return e.Status >= 400 || e.Status > 0 && e.Code != "" }
