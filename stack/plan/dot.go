package plan

import (
	"fmt"
	"strings"
)

// DOT returns the graph of the steps in the language of Graphviz: one cluster for
// each owner, an arrow from each step to the steps that need it. Gated steps are
// rounded with a dashed border, held ones grey, steps that interrupt traffic
// red.
func DOT(doc Document) string {
	g := graphOf(doc)
	var out strings.Builder
	out.WriteString("// An arrow points from a step to a step that needs it.\n")
	out.WriteString("digraph plan {\n  rankdir=LR;\n  node [shape=box];\n")
	for i, c := range g.clusters {
		fmt.Fprintf(&out, "  subgraph cluster_%d {\n    label=%s;\n", i, dotText(replaceUnprintable(c.title)))
		for _, n := range c.nodes {
			out.WriteString("    " + dotNode(n))
		}
		out.WriteString("  }\n")
	}
	for _, n := range g.outside {
		out.WriteString("  " + dotNode(n))
	}
	for _, e := range g.edges {
		style := ""
		if e.waits {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&out, "  %s -> %s%s;\n", e.from, e.to, style)
	}
	out.WriteString("}\n")
	return out.String()
}

func dotNode(n node) string {
	attrs := "label=" + dotText(n.lines...)
	switch n.look {
	case gated:
		attrs += `, style="rounded,dashed"`
	case heldOne:
		attrs += `, style="filled,dashed", fillcolor=lightgrey`
	case absent:
		attrs += ", style=dotted"
	case open:
	}
	if n.impact == Interrupts {
		attrs += ", color=red"
	}
	return n.id + " [" + attrs + "];\n"
}

// dotText returns a quoted string of DOT with one line for each text. Only the quote
// and the backslash are special inside one.
func dotText(lines ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	quoted := make([]string, 0, len(lines))
	for _, l := range lines {
		quoted = append(quoted, escape.Replace(l))
	}
	return `"` + strings.Join(quoted, `\n`) + `"`
}
