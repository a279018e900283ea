package plan

import (
	"container/heap"
	"slices"
)

// Barrier is a group of steps that all steps behind it need. It is one value for all of
// them: five hundred steps behind five hundred others need a thousand edges instead of a
// quarter of a million.
type Barrier struct{ Steps []StepID }

// AllNeeds returns the steps that must be complete before this one, including those of
// its barriers, each once and in order.
func (s Step) AllNeeds() []StepID {
	if len(s.Behind) == 0 {
		return s.Needs
	}
	out := slices.Clone(s.Needs)
	for _, b := range s.Behind {
		out = append(out, b.Steps...)
	}
	slices.SortFunc(out, StepID.Compare)
	return slices.Compact(out)
}

// Graph has the needs of the steps of a list, by their positions. Needs that are not in
// the list are left out. Nodes from Steps on are barriers.
type Graph struct {
	Steps  int     // number of nodes that are steps
	Needs  [][]int // of each node, the nodes that are before it
	Needed [][]int // of each node, the nodes that are behind it
	at     map[StepID]int
}

// NewGraph returns the graph of the steps.
func NewGraph(steps []Step) *Graph {
	g := &Graph{Steps: len(steps), at: make(map[StepID]int, len(steps))}
	for i := range steps {
		g.at[steps[i].ID] = i
	}
	g.Needs = make([][]int, len(steps))
	barriers := map[*Barrier]int{}
	for i := range steps {
		g.Needs[i] = g.places(steps[i].Needs)
		for _, b := range steps[i].Behind {
			node, known := barriers[b]
			if !known {
				node = len(g.Needs)
				barriers[b] = node
				g.Needs = append(g.Needs, g.places(b.Steps))
			}
			g.Needs[i] = append(g.Needs[i], node)
		}
	}
	g.Needed = make([][]int, len(g.Needs))
	for node, needs := range g.Needs {
		for _, need := range needs {
			g.Needed[need] = append(g.Needed[need], node)
		}
	}
	return g
}

func (g *Graph) places(ids []StepID) []int {
	var out []int
	for _, id := range ids {
		if i, ok := g.at[id]; ok {
			out = append(out, i)
		}
	}
	return out
}

// At returns the place of a step; false: it is not in the list.
func (g *Graph) At(id StepID) (int, bool) {
	i, ok := g.at[id]
	return i, ok
}

// Edges returns the number of edges, including those from and to barriers.
func (g *Graph) Edges() int {
	n := 0
	for _, needs := range g.Needs {
		n += len(needs)
	}
	return n
}

// Sorted returns the steps in an order that respects their needs, and otherwise in the
// order of the list. Steps that need each other, and steps behind them, are left out.
func (g *Graph) Sorted() []int {
	open := make([]int, len(g.Needs))
	ready := &places{}
	for node, needs := range g.Needs {
		if open[node] = len(needs); open[node] == 0 && node < g.Steps {
			ready.list = append(ready.list, node) // in order, which is a heap
		}
	}
	for barrier := g.Steps; barrier < len(g.Needs); barrier++ {
		if len(g.Needs[barrier]) == 0 {
			g.pass(barrier, open, ready)
		}
	}
	var out []int
	for ready.Len() > 0 {
		step, _ := heap.Pop(ready).(int)
		out = append(out, step)
		g.pass(step, open, ready)
	}
	return out
}

// pass decrements the open needs of the nodes behind a node. A barrier is passed at
// once: it has no position in the order.
func (g *Graph) pass(node int, open []int, ready *places) {
	for _, behind := range g.Needed[node] {
		if open[behind]--; open[behind] > 0 {
			continue
		}
		if behind < g.Steps {
			heap.Push(ready, behind)
		} else {
			g.pass(behind, open, ready)
		}
	}
}

// Before reports for every node whether one of the given steps needs it, directly or
// through others.
func (g *Graph) Before(steps []int) []bool {
	seen := make([]bool, len(g.Needs))
	left := slices.Clone(steps)
	for len(left) > 0 {
		node := left[len(left)-1]
		left = left[:len(left)-1]
		for _, need := range g.Needs[node] {
			if !seen[need] {
				seen[need] = true
				left = append(left, need)
			}
		}
	}
	return seen
}

// Circles returns the groups of steps that need each other.
func (g *Graph) Circles() [][]int {
	t := &tarjan{graph: g, index: make([]int, len(g.Needs)), low: make([]int, len(g.Needs)), open: make([]bool, len(g.Needs))}
	for node := range g.Needs {
		if t.index[node] == 0 {
			t.visit(node)
		}
	}
	return t.circles
}

// tarjan finds strongly connected components.
// Source: R. Tarjan, Depth-first search and linear graph algorithms, 1972.
type tarjan struct {
	graph   *Graph
	next    int
	index   []int // in the order of visits, from 1
	low     []int // the first visited node that is reached
	stack   []int
	open    []bool // is on the stack
	circles [][]int
}

func (t *tarjan) visit(node int) {
	t.next++
	t.index[node], t.low[node] = t.next, t.next
	t.stack, t.open[node] = append(t.stack, node), true
	for _, need := range t.graph.Needs[node] {
		if t.index[need] == 0 {
			t.visit(need)
			t.low[node] = min(t.low[node], t.low[need])
		} else if t.open[need] {
			t.low[node] = min(t.low[node], t.index[need])
		}
	}
	if t.low[node] != t.index[node] {
		return
	}
	at := len(t.stack) - 1
	for t.open[t.stack[at]] = false; t.stack[at] != node; t.open[t.stack[at]] = false {
		at--
	}
	group := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	if len(group) == 1 && !slices.Contains(t.graph.Needs[node], node) {
		return
	}
	slices.Sort(group)
	t.circles = append(t.circles, slices.DeleteFunc(group, func(n int) bool { return n >= t.graph.Steps }))
}

// places is a heap of places in a list.
type places struct{ list []int }

func (p *places) Len() int           { return len(p.list) }
func (p *places) Less(i, j int) bool { return p.list[i] < p.list[j] }
func (p *places) Swap(i, j int)      { p.list[i], p.list[j] = p.list[j], p.list[i] }

// Push implements heap.Interface.
func (p *places) Push(v any) {
	if i, ok := v.(int); ok {
		p.list = append(p.list, i)
	}
}

// Pop implements heap.Interface.
func (p *places) Pop() any {
	last := p.list[len(p.list)-1]
	p.list = p.list[:len(p.list)-1]
	return last
}
