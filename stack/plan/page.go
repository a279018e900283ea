package plan

import "strings"

// style is the appearance of text with colours.
type style string

const (
	normal style = ""
	strong style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

func plainSpan(text string) span { return span{text: text} }
func faintSpan(text string) span { return span{text: text, style: dim} }

// page collects lines. Widths are shared before colours are added, and no line
// is longer than the width, unless values are shown whole.
type page struct {
	out   strings.Builder
	color bool
	width int // at which values are cut
	text  int // at which sentences are broken between words
}

// unlimited is a width that no value has.
const unlimited = 1 << 20

func newPage(opt Options) *page {
	width := opt.Width
	if width == 0 {
		width = defaultWidth
	}
	p := &page{color: opt.Color, width: max(width, minWidth)}
	p.text = p.width
	if opt.Whole {
		p.width = unlimited
	}
	return p
}

func (p *page) String() string { return p.out.String() }

func (p *page) blank() { p.out.WriteByte('\n') }

// line writes spans behind an indent.
func (p *page) line(indent int, spans ...span) {
	p.out.WriteString(strings.Repeat(" ", indent))
	for _, s := range spans {
		p.paint(replaceUnprintable(s.text), s.style)
	}
	p.out.WriteByte('\n')
}

// led writes a line with a sign in the two columns before it, if there is one.
func (p *page) led(indent int, lead span, spans ...span) {
	if lead.text == "" {
		p.line(indent, spans...)
		return
	}
	p.line(indent-2, append([]span{lead, plainSpan(" ")}, spans...)...)
}

func (p *page) paint(text string, s style) {
	if !p.color || s == normal || text == "" {
		p.out.WriteString(text)
		return
	}
	p.out.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
}

// prose writes a strong line, broken between words; lines after the first are
// indented by hang.
func (p *page) prose(indent, hang int, text string) {
	for i, l := range wrapText(text, p.text-max(indent, hang)) {
		if i > 0 {
			indent = hang
		}
		p.line(indent, span{text: l, style: strong})
	}
}

// mark writes text behind a sign, and the lines after the first below the text.
func (p *page) mark(indent int, sign string, s style, text string) {
	at := indent + textWidth(sign) + 1
	for i, l := range wrapText(text, p.text-at) {
		if i == 0 {
			p.line(indent, span{text: sign, style: s}, plainSpan(" "+l))
			continue
		}
		p.line(at, plainSpan(l))
	}
}

// note writes a remark.
func (p *page) note(indent int, text string) {
	for i, l := range wrapText(text, p.text-indent-4) {
		if i == 0 {
			p.line(indent, faintSpan("# "+l))
			continue
		}
		p.line(indent, faintSpan("#   "+l))
	}
}
