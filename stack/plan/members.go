package plan

import (
	"maps"
	"slices"
)

// memberLine is one different member of a list or an object.
type memberLine struct {
	sign   string
	name   string   // of an object's member; empty in a list
	values []string // one, or before and after
}

// members is the difference of two lists, or two objects.
type members struct {
	lines []memberLine
	same  int
}

// maxMembers bounds the lines of one symbol: the instances of a cluster of a thousand
// nodes are counted, not listed; JSON has all.
const maxMembers = 12

// membersOf compares member by member where both values have members. A step
// that adds or removes some members of a set shows those alone.
func membersOf(c ChangeDoc) members {
	if len(c.Added)+len(c.Removed) == 0 {
		return compareMembers(c.From, c.To)
	}
	var out members
	for _, v := range c.Added {
		out.lines = append(out.lines, memberLine{sign: "+", values: []string{valueText(v)}})
	}
	for _, v := range c.Removed {
		out.lines = append(out.lines, memberLine{sign: "-", values: []string{valueText(v)}})
	}
	from, isFrom := listOf(c.From)
	to, isTo := listOf(c.To)
	if isFrom && isTo {
		out.same = compareLists(from, to).same
	}
	return out
}

// compareMembers compares two lists or two objects, of which one may be absent. Other
// values have no members.
func compareMembers(from, to any) members {
	if a, ok := listOf(from); ok {
		if b, ok := listOf(to); ok {
			return compareLists(a, b)
		}
	}
	if a, ok := objectOf(from); ok {
		if b, ok := objectOf(to); ok {
			return compareObjects(a, b)
		}
	}
	return members{}
}

func listOf(v any) ([]any, bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	return list, ok
}

func objectOf(v any) (map[string]any, bool) {
	if v == nil {
		return nil, true
	}
	m, ok := v.(map[string]any)
	if _, isRef := refText(m); isRef {
		return nil, false
	}
	return m, ok
}

// compareLists compares without regard to order: what differs in its order
// alone has no lines.
func compareLists(from, to []any) members {
	left := map[string]int{}
	for _, v := range from {
		left[valueText(v)]++
	}
	var out members
	for _, v := range to {
		text := valueText(v)
		if left[text] > 0 {
			left[text]--
			out.same++
			continue
		}
		out.lines = append(out.lines, memberLine{sign: "+", values: []string{text}})
	}
	for _, v := range from {
		if text := valueText(v); left[text] > 0 {
			left[text]--
			out.lines = append(out.lines, memberLine{sign: "-", values: []string{text}})
		}
	}
	return out
}

func compareObjects(from, to map[string]any) members {
	all := maps.Clone(from)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, to)
	var out members
	for _, k := range slices.Sorted(maps.Keys(all)) {
		before, had := from[k]
		after, has := to[k]
		line := memberLine{name: nameText(k)}
		switch a, b := valueText(before), valueText(after); {
		case !had:
			line.sign, line.values = "+", []string{b}
		case !has:
			line.sign, line.values = "-", []string{a}
		case a != b:
			line.sign, line.values = "~", []string{a, b}
		default:
			out.same++
			continue
		}
		out.lines = append(out.lines, line)
	}
	return out
}

// show writes the name of the field and a line for each member that differs.
func (m members) show(p *page, indent int, a assignment) {
	p.line(indent, plainSpan(replaceUnprintable(a.name)+":"), a.tail())
	inner := 0
	for _, l := range m.lines {
		inner = max(inner, nameWidth(l.name))
	}
	shown := map[string]int{}
	for _, l := range m.lines {
		shown[l.sign]++
		if shown[l.sign] <= maxMembers {
			l.show(p, indent+2, inner)
		}
	}
	for _, sign := range []string{"+", "~", "-"} {
		if rest := shown[sign] - maxMembers; rest > 0 {
			p.mark(indent+2, sign, signStyle(sign), formatCount(rest, "more", "more"))
		}
	}
	if m.same > 0 {
		p.note(indent+2, formatCount(m.same, "unchanged member", "unchanged members")+" not shown")
	}
}

func (l memberLine) show(p *page, indent, col int) {
	if l.name == "" {
		p.mark(indent, l.sign, signStyle(l.sign), l.values[0])
		return
	}
	sign := span{text: l.sign, style: signStyle(l.sign)}
	p.assign(indent+2, col, assignment{lead: sign, name: l.name, values: l.values})
}

func signStyle(sign string) style {
	switch sign {
	case "+":
		return green
	case "-":
		return red
	default:
		return yellow
	}
}
