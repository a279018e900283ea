package plan

import "strings"

// assignment is one field with its value, or the values before and after.
type assignment struct {
	lead   span // a sign in the two columns before the name
	name   string
	values []string
	suffix string
}

// maxName bounds the column of the names, so that one long name does not move all values
// to the right.
const maxName = 28

// showFields writes the fields of a new resource. Empty fields are left out.
func showFields(p *page, indent int, fields []FieldDoc) {
	col := 0
	var set []FieldDoc
	for _, f := range fields {
		if !isUnset(f.Value) {
			set = append(set, f)
			col = max(col, nameWidth(f.Name))
		}
	}
	for _, f := range set {
		a := assignment{name: f.Name, values: []string{valueText(f.Value)}}
		if members := compareMembers(nil, f.Value); len(members.lines) > 0 && !p.fits(indent, col, a) {
			members.show(p, indent, a)
			continue
		}
		p.assign(indent, col, a)
	}
}

// showChanges writes fields with the values before and after, and only the members that
// differ of lists and objects.
func showChanges(p *page, indent int, changes []ChangeDoc) {
	col := 0
	for _, c := range changes {
		col = max(col, nameWidth(c.Field))
	}
	for _, c := range changes {
		showChange(p, indent, col, c)
	}
}

func showChange(p *page, indent, col int, c ChangeDoc) {
	a := assignment{name: c.Field, values: []string{valueText(c.From), valueText(c.To)}}
	if c.Forces {
		a.suffix = "# forces replacement"
	}
	if members := membersOf(c); len(members.lines) > 0 {
		members.show(p, indent, a)
		return
	}
	if secretDiffers(c) {
		a.values = []string{Secret + ", another one"}
	}
	p.assign(indent, col, a)
}

func secretDiffers(c ChangeDoc) bool { return c.From == any(Secret) && c.To == any(Secret) }

func nameWidth(name string) int { return min(textWidth(replaceUnprintable(name)), maxName) }

// text returns the assignment on one line.
func (a assignment) text(col int) string {
	return strings.Join([]string{padRight(replaceUnprintable(a.name), col), "=", strings.Join(a.values, " -> ")}, " ")
}

// fits reports whether an assignment has room on one line.
func (p *page) fits(indent, col int, a assignment) bool {
	n := indent + textWidth(a.text(col))
	if a.suffix != "" {
		n += 1 + textWidth(a.suffix)
	}
	return n <= p.text
}

// assign writes an assignment on one line if it fits. Otherwise each value gets
// a line of its own, and one of several words is cut in the middle.
func (p *page) assign(indent, col int, a assignment) {
	if p.fits(indent, col, a) {
		p.led(indent, a.lead, plainSpan(a.text(col)), a.tail())
		return
	}
	name := padRight(replaceUnprintable(a.name), col)
	room := p.width - indent - textWidth(name) - len(" = ")
	if len(a.values) == 2 {
		room -= len("-> ")
	}
	room = max(room, minValue)
	values, alone := a.cut(room)
	tail := a.tail()
	if alone {
		tail = span{}
	}
	if len(values) == 1 {
		p.led(indent, a.lead, plainSpan(name+" = "+values[0]), tail)
	} else {
		p.led(indent, a.lead, plainSpan(name+" =    "+values[0]))
		p.line(indent, plainSpan(padRight("", textWidth(name))+"   -> "+values[1]), tail)
	}
	if alone {
		p.note(indent+2, strings.TrimPrefix(a.suffix, "# "))
	}
}

// minValue is the minimum width of a cut value.
const minValue = 16

// cut fits the values into the width and leaves space for the suffix after the last one;
// alone means that there is no such space.
func (a assignment) cut(room int) (values []string, alone bool) {
	last := len(a.values) - 1
	tail := textWidth(a.tail().text)
	if textWidth(a.values[last])+tail <= room {
		return cutAll(a.values, room), false
	}
	if room-tail >= minValue {
		if values = cutAll(a.values, room-tail); textWidth(values[last])+tail <= room {
			return values, false
		}
	}
	return cutAll(a.values, room), tail > 0
}

func (a assignment) tail() span {
	if a.suffix == "" {
		return span{}
	}
	return span{text: " " + a.suffix, style: red}
}
