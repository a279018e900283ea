package explore

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers/kit"
)

// Party is the receiver of a point's request.
type Party string

// The parties of a process.
const (
	Cloud Party = "cloud"
	Kube  Party = "kube"
	Watch Party = "watch"
)

// Point is a place in a run at which a caller waits to proceed: a request on its way to the
// cloud or to the API server, or a change on its way to an informer.
type Point struct {
	Process int
	Party   Party
	What    string // what it is about, the same in every run of a schedule
	Write   bool
	Urgency kit.Urgency // of the work that asks, which tells equal requests apart

	seq    int
	answer chan Deviation
}

// removes reports whether a request deletes a resource.
func (p *Point) removes() bool {
	return slices.ContainsFunc([]string{"DELETE ", "Delete", "Deregister", "Revoke", "Detach", "Remove"}, func(verb string) bool { return strings.HasPrefix(p.What, verb) })
}

// gate holds every waiting point. It is safe for concurrent use.
type gate struct {
	mu      sync.Mutex
	seq     int
	waiting []*Point
	arrived chan struct{} // receives a value when a point has arrived
	open    bool          // no point waits any more
}

func newGate() *gate { return &gate{arrived: make(chan struct{}, 1)} }

// enter has a point wait. Its answer says how it may go on.
func (g *gate) enter(p Point) *Point {
	p.answer = make(chan Deviation, 1)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open {
		p.answer <- Deviation{}
		return &p
	}
	g.seq++
	p.seq = g.seq
	g.waiting = append(g.waiting, &p)
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	return &p
}

// pass waits until the point may go on, and returns how.
func (g *gate) pass(p Point) Deviation { return <-g.enter(p).answer }

// pending are the points that wait, in an order that does not depend on which goroutine
// was quicker.
func (g *gate) pending() []*Point {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := slices.Clone(g.waiting)
	slices.SortStableFunc(out, func(a, b *Point) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Party, b.Party), cmp.Compare(a.What, b.What), cmp.Compare(a.Urgency, b.Urgency), cmp.Compare(a.seq, b.seq))
	})
	return out
}

// release lets a point go on.
func (g *gate) release(p *Point, how Deviation) {
	g.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(q *Point) bool { return q == p })
	g.mu.Unlock()
	p.answer <- how
}

// openAll lets every point through from now on.
func (g *gate) openAll() {
	g.mu.Lock()
	g.open = true
	waiting := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	for _, p := range waiting {
		p.answer <- Deviation{}
	}
}
