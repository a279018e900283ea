package service

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/nodeports"
)

// Node changes gather until none came for a second, at most five: nodes join in
// bursts, and each burst is one change to a load balancer.
const (
	nodeQuiet = time.Second
	nodeMost  = 5 * time.Second
)

// nodeView is what backends may depend on of all nodes. A heartbeat changes
// nothing in it.
type nodeView struct {
	clock clock.WithTicker
	ready func([]nodeports.Node) // called with all nodes after a burst of changes

	mu    sync.Mutex
	nodes map[string]nodeports.Node
	timer clock.Timer
	first time.Time // of the burst under way

	telling sync.Mutex // so that an older list is never told after a newer one
}

func newNodeView(c clock.WithTicker, ready func([]nodeports.Node)) *nodeView {
	return &nodeView{clock: c, ready: ready, nodes: map[string]nodeports.Node{}}
}

// keepLabel keeps every label: which of them selectors ask for is known only
// from the Services, and strings of equal labels are shared by the API client.
func keepLabel(string) bool { return true }

// set takes a node as it is now.
func (v *nodeView) set(n *corev1.Node) {
	projected := nodeports.Project(n, keepLabel)
	v.mu.Lock()
	defer v.mu.Unlock()
	if old, ok := v.nodes[n.Name]; ok && old.Equal(projected) {
		return
	}
	v.nodes[n.Name] = projected
	v.changed()
}

// remove takes a node out.
func (v *nodeView) remove(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.nodes[name]; !ok {
		return
	}
	delete(v.nodes, name)
	v.changed()
}

// changed (re)starts the quiet time. The lock is held.
func (v *nodeView) changed() {
	now := v.clock.Now()
	if v.timer == nil {
		v.first = now
		v.timer = v.clock.NewTimer(nodeQuiet)
		go v.wait(v.timer)
		return
	}
	left := v.first.Add(nodeMost).Sub(now)
	v.timer.Reset(max(min(nodeQuiet, left), 0))
}

func (v *nodeView) wait(t clock.Timer) {
	<-t.C()
	v.mu.Lock()
	v.timer = nil
	v.mu.Unlock()
	v.publish(v.ready)
}

// publish tells of the nodes as they are now. Whoever is told by it never hears of an
// older list after a newer one.
func (v *nodeView) publish(of func([]nodeports.Node)) {
	v.telling.Lock()
	defer v.telling.Unlock()
	of(v.list())
}

// list lists the nodes as they are now.
func (v *nodeView) list() []nodeports.Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]nodeports.Node, 0, len(v.nodes))
	for _, n := range v.nodes {
		out = append(out, n)
	}
	return out
}
