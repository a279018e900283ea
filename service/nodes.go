package service

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/nodeports"
)

// Node changes are collected until there is none for a second, for five at most: nodes
// join in bursts, and each burst is one change of a load balancer.
const (
	nodeQuiet = time.Second
	nodeMost  = 5 * time.Second
)

// nodeView has the fields of all nodes that backends can depend on. A heartbeat changes
// nothing in it.
type nodeView struct {
	clock clock.WithTicker
	ready func([]nodeports.Node) // called with all nodes after a burst of changes

	mu    sync.Mutex
	nodes map[string]nodeports.Node
	timer clock.Timer
	first time.Time // of the current burst

	telling sync.Mutex // so that an older list is never published after a newer one
}

func newNodeView(c clock.WithTicker, ready func([]nodeports.Node)) *nodeView {
	return &nodeView{clock: c, ready: ready, nodes: map[string]nodeports.Node{}}
}

// keepLabel keeps every label: the labels that selectors use depend on the Services,
// and the API client shares strings of equal labels.
func keepLabel(string) bool { return true }

// set stores the current version of a node.
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

// remove removes a node.
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

// publish passes the current nodes on. An older list never follows a newer one.
func (v *nodeView) publish(of func([]nodeports.Node)) {
	v.telling.Lock()
	defer v.telling.Unlock()
	of(v.list())
}

// list returns the current nodes.
func (v *nodeView) list() []nodeports.Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]nodeports.Node, 0, len(v.nodes))
	for _, n := range v.nodes {
		out = append(out, n)
	}
	return out
}
