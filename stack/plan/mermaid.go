package plan

import (
	"fmt"
	"strings"
)

// Mermaid returns the graph of the steps as a Mermaid flow chart, which code hosts
// render in Markdown: one subgraph for each owner, an arrow from each step to the steps
// that need it, dotted arrows to steps that wait or are blocked.
func Mermaid(doc Document) string {
	g := graphOf(doc)
	var out strings.Builder
	out.WriteString("%% An arrow points from a step to a step that needs it.\nflowchart LR\n")
	classes := map[string][]string{}
	for i, c := range g.clusters {
		fmt.Fprintf(&out, "  subgraph o%d[%s]\n", i, mermaidText(replaceUnprintable(c.title)))
		for _, n := range c.nodes {
			out.WriteString("    " + mermaidNode(n, classes))
		}
		out.WriteString("  end\n")
	}
	for _, n := range g.outside {
		out.WriteString("  " + mermaidNode(n, classes))
	}
	for _, e := range g.edges {
		arrow := "-->"
		if e.waits {
			arrow = "-.->"
		}
		fmt.Fprintf(&out, "  %s %s %s\n", e.from, arrow, e.to)
	}
	mermaidClasses(&out, classes)
	return out.String()
}

func mermaidNode(n node, classes map[string][]string) string {
	switch n.look {
	case gated:
		classes["gated"] = append(classes["gated"], n.id)
	case heldOne:
		classes["held"] = append(classes["held"], n.id)
	case absent:
		classes["absent"] = append(classes["absent"], n.id)
	case open:
	}
	if n.impact == Interrupts {
		classes["interrupts"] = append(classes["interrupts"], n.id)
	}
	if n.look == gated {
		return fmt.Sprintf("%s(%s)\n", n.id, mermaidText(n.lines...))
	}
	return fmt.Sprintf("%s[%s]\n", n.id, mermaidText(n.lines...))
}

// mermaidClasses writes the used styles.
func mermaidClasses(out *strings.Builder, classes map[string][]string) {
	looks := []struct{ name, style string }{
		{"gated", "stroke-dasharray:5 5"},
		{"held", "fill:#ddd,stroke-dasharray:2 4"},
		{"absent", "fill:#fff,stroke-dasharray:1 3"},
		{"interrupts", "stroke:#c00,stroke-width:2px"},
	}
	for _, l := range looks {
		if len(classes[l.name]) > 0 {
			fmt.Fprintf(out, "  classDef %s %s\n", l.name, l.style)
			fmt.Fprintf(out, "  class %s %s\n", strings.Join(classes[l.name], ","), l.name)
		}
	}
}

// mermaidText is a quoted label with one line for each text. Mermaid reads
// markup, entities and, in back quotes, Markdown inside quotes, so what could
// be any of them is written as a numbered entity.
func mermaidText(lines ...string) string {
	texts := make([]string, 0, len(lines))
	for _, l := range lines {
		var out strings.Builder
		for _, r := range l {
			if strings.ContainsRune("\"#<>&`\\", r) {
				fmt.Fprintf(&out, "#%d;", r)
				continue
			}
			out.WriteRune(r)
		}
		texts = append(texts, out.String())
	}
	return `"` + strings.Join(texts, "<br/>") + `"`
}
