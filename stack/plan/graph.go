package plan

import (
	"fmt"

	"github.com/berth-lb/berth/stack"
)

// graph has the steps of a document as nodes and edges, for any output format. An edge
// leads from a step to one that needs it, in the order of time.
type graph struct {
	clusters []cluster
	outside  []node // needed steps that are not in the document
	edges    []edge
}

type cluster struct {
	title string
	nodes []node
}

type node struct {
	id     string // n0, n1: unique in the graph, the same in every run
	lines  []string
	look   look
	impact Impact
}

// look is the appearance of a node.
type look int

const (
	open    look = iota // runs when its needs are done
	gated               // waits for more than its needs
	heldOne             // does not run
	absent              // is not in the document
)

type edge struct {
	from, to string
	waits    bool // the needing step is gated or blocked
}

// stepName names a step in the whole document.
type stepName struct {
	owner stack.Owner
	id    string
}

type grapher struct {
	graph graph
	ids   map[stepName]string
	next  int
}

func graphOf(doc Document) graph {
	g := &grapher{ids: map[stepName]string{}}
	for _, p := range doc.Plans {
		c := cluster{title: ownerText(p.Owner)}
		for _, s := range p.Steps {
			c.nodes = append(c.nodes, g.node(p.Owner, s, ""))
		}
		for _, h := range p.Held {
			c.nodes = append(c.nodes, g.node(p.Owner, h.Step, heldText(h)))
		}
		if len(c.nodes) > 0 {
			g.graph.clusters = append(g.graph.clusters, c)
		}
	}
	for _, p := range doc.Plans {
		for _, s := range p.Steps {
			g.edges(p.Owner, s, s.Gate != nil)
		}
		for _, h := range p.Held {
			g.edges(p.Owner, h.Step, true)
		}
	}
	return g.graph
}

func (g *grapher) id(name stepName) string {
	id := fmt.Sprintf("n%d", g.next)
	g.next++
	g.ids[name] = id
	return id
}

func (g *grapher) node(owner stack.Owner, s StepDoc, held string) node {
	n := node{id: g.id(stepName{owner, s.ID}), lines: []string{replaceUnprintable(s.ID)}, impact: s.Impact}
	for _, r := range s.With {
		n.lines = append(n.lines, "with "+replaceUnprintable(r.Key.String()))
	}
	if s.Gate != nil {
		n.look = gated
		n.lines = append(n.lines, replaceUnprintable(gateText(*s.Gate)))
	}
	if held != "" {
		n.look = heldOne
		n.lines = append(n.lines, replaceUnprintable(held))
	}
	return n
}

func (g *grapher) edges(owner stack.Owner, s StepDoc, waits bool) {
	to := g.ids[stepName{owner, s.ID}]
	for _, need := range s.Needs {
		name := stepName{owner, need.Step}
		if need.Owner != nil {
			name.owner = *need.Owner
		}
		from, known := g.ids[name]
		if !known {
			from = g.id(name)
			g.graph.outside = append(g.graph.outside, node{
				id:    from,
				lines: []string{replaceUnprintable(name.id), replaceUnprintable("of " + ownerText(name.owner)), "not in this document"},
				look:  absent,
			})
		}
		g.graph.edges = append(g.graph.edges, edge{from: from, to: to, waits: waits})
	}
}
