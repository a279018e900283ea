package graph

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/berth-lb/berth/stack/plan"
)

// Sizes of the drawing in pixels. The width of a character is that of a font of fixed width.
const (
	charWidth  = 7
	lineHeight = 16
	padding    = 8
	rowGap     = 14
	rankGap    = 80
	margin     = 20
	ranks      = 4
)

// box is a node at its place.
type box struct {
	Node
	rank, x, y, width, height int
}

// SVG draws the graph in four ranks, from left to right: ports and other Services, listeners, what
// they send to, and members.
func (g Graph) SVG() string {
	boxes := g.place()
	width, height := 0, 0
	for _, b := range boxes {
		width, height = max(width, b.x+b.width+margin), max(height, b.y+b.height+margin)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"12\">\n", width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", html.EscapeString(g.Owner.String()))
	out.WriteString("<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n")
	for _, e := range g.Edges {
		from, to := findBox(boxes, e.From), findBox(boxes, e.To)
		if from != nil && to != nil {
			fmt.Fprintf(&out, "<path d=\"%s\" fill=\"none\" stroke=\"black\" marker-end=\"url(#to)\"/>\n", pathOf(*from, *to))
		}
	}
	for _, b := range boxes {
		b.write(&out)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// place returns the nodes at their places.
func (g Graph) place() []box {
	columns := make([][]box, ranks)
	for _, n := range g.Nodes {
		b := box{Node: n, rank: g.rankOf(n)}
		for _, line := range n.lines() {
			b.width = max(b.width, charWidth*utf8.RuneCountInString(line)+2*padding)
		}
		b.height = lineHeight*len(n.lines()) + padding
		columns[b.rank] = append(columns[b.rank], b)
	}
	var out []box
	x := margin
	for _, column := range columns {
		g.sortColumn(column, out)
		y, widest := margin, 0
		for i := range column {
			column[i].x, column[i].y = x, y
			y, widest = y+column[i].height+rowGap, max(widest, column[i].width)
		}
		if len(column) > 0 {
			x += widest + rankGap
		}
		out = append(out, column...)
	}
	return out
}

// rankOf returns the rank of a node. A resource that a port leads to is a listener; so is one
// that no other resource leads to.
func (g Graph) rankOf(n Node) int {
	switch n.Role {
	case Port, Service:
		return 0
	case Member:
		return ranks - 1
	case Resource:
	}
	leads := func(role Role) bool {
		return slices.ContainsFunc(g.Edges, func(e Edge) bool {
			return e.To == n.ID && slices.ContainsFunc(g.Nodes, func(from Node) bool { return from.ID == e.From && from.Role == role })
		})
	}
	if leads(Port) || !leads(Resource) {
		return 1
	}
	return 2
}

// sortColumn orders a rank by the mean height of the nodes that lead to each, so that few edges
// cross.
func (g Graph) sortColumn(column, before []box) {
	height := map[string]int{}
	for _, b := range column {
		sum, count := 0, 0
		for _, e := range g.Edges {
			if from := findBox(before, e.From); e.To == b.ID && from != nil {
				sum, count = sum+from.y, count+1
			}
		}
		if count > 0 {
			height[b.ID] = sum / count
		}
	}
	slices.SortStableFunc(column, func(a, b box) int { return cmp.Compare(height[a.ID], height[b.ID]) })
}

func findBox(boxes []box, id string) *box {
	i := slices.IndexFunc(boxes, func(b box) bool { return b.ID == id })
	if i < 0 {
		return nil
	}
	return &boxes[i]
}

// pathOf returns the path of an edge: to a later rank from the right side to the left one, else
// around the right sides.
func pathOf(from, to box) string {
	x1, y1, x2, y2 := from.x+from.width, from.y+from.height/2, to.x, to.y+to.height/2
	bend1, bend2 := x1+rankGap/2, x2-rankGap/2
	if to.rank <= from.rank {
		x2 = to.x + to.width
		bend1 = max(x1, x2) + rankGap/2
		bend2 = bend1
	}
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, bend1, y1, bend2, y2, x2, y2)
}

// write draws the node. Its state is in words as well, so that colors and strokes are not the only signs.
func (b box) write(out *strings.Builder) {
	style := "fill=\"white\" stroke=\"black\""
	switch b.State {
	case Missing:
		style += " stroke-dasharray=\"5 5\""
	case Unwanted:
		style = "fill=\"lightgrey\" stroke=\"black\""
	case Existing:
	}
	radius := map[Role]int{Port: 3, Member: b.height / 2}[b.Role]
	fmt.Fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" %s/>\n", b.x, b.y, b.width, b.height, radius, style)
	if b.Shared {
		fmt.Fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"black\"/>\n", b.x+2, b.y+2, b.width-4, b.height-4)
	}
	for i, line := range b.lines() {
		fmt.Fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", b.x+padding, b.y+padding/2+lineHeight*i+lineHeight-4, html.EscapeString(plan.PrintableText(line)))
	}
}
