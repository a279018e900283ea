package graph

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// shape is the form of a node in DOT, and its brackets in Mermaid.
type shape struct{ dot, begin, end string }

// shape returns the form of a role.
func (r Role) shape() shape {
	switch r {
	case Port:
		return shape{"cds", "[/", "/]"}
	case Member:
		return shape{"ellipse", "([", "])"}
	case Service:
		return shape{"box3d", "[[", "]]"}
	case Resource:
	}
	return shape{"box", "[", "]"}
}

// DOT returns the graph in the language of Graphviz. Missing resources are dashed, surplus ones
// grey, shared ones have a double border.
func (g Graph) DOT() string {
	var out strings.Builder
	out.WriteString("digraph service {\n  rankdir=LR;\n")
	fmt.Fprintf(&out, "  label=%s;\n", plan.DOTText(g.Owner.String()))
	names := g.names()
	for _, n := range g.Nodes {
		attrs := fmt.Sprintf("label=%s, shape=%s", plan.DOTText(n.lines()...), n.Role.shape().dot)
		switch n.State {
		case Missing:
			attrs += ", style=dashed"
		case Unwanted:
			attrs += ", style=filled, fillcolor=lightgrey"
		case Existing:
		}
		if n.Shared {
			attrs += ", peripheries=2"
		}
		fmt.Fprintf(&out, "  %s [%s];\n", names[n.ID], attrs)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&out, "  %s -> %s;\n", names[e.From], names[e.To])
	}
	out.WriteString("}\n")
	return out.String()
}

// Mermaid returns the graph as a flowchart of Mermaid.
func (g Graph) Mermaid() string {
	var out strings.Builder
	fmt.Fprintf(&out, "---\ntitle: %s\n---\nflowchart LR\n", g.Owner)
	names := g.names()
	classes := map[string][]string{}
	for _, n := range g.Nodes {
		form := n.Role.shape()
		fmt.Fprintf(&out, "  %s%s%s%s\n", names[n.ID], form.begin, plan.MermaidText(n.lines()...), form.end)
		if n.State != Existing {
			classes[string(n.State)] = append(classes[string(n.State)], names[n.ID])
		}
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&out, "  %s --> %s\n", names[e.From], names[e.To])
	}
	for _, class := range []struct{ name, style string }{{string(Missing), "stroke-dasharray:5 5"}, {string(Unwanted), "fill:#ddd"}} {
		if members := classes[class.name]; len(members) > 0 {
			fmt.Fprintf(&out, "  classDef %s %s\n  class %s %s\n", class.name, class.style, strings.Join(members, ","), class.name)
		}
	}
	return out.String()
}

// names returns the short names of nodes, by identifier.
func (g Graph) names() map[string]string {
	out := map[string]string{}
	for i, n := range g.Nodes {
		out[n.ID] = fmt.Sprintf("n%d", i)
	}
	return out
}

// lines returns the label, and the state in words: color and style are not the only signs.
func (n Node) lines() []string {
	out := []string{n.Label}
	if n.State != Existing {
		out = append(out, string(n.State))
	}
	if n.Shared {
		out = append(out, "shared")
	}
	return out
}
