package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// errFormat means that there is no such form of output.
var errFormat = errors.New("is no form of output")

// Formats lists the legal values of Render's format.
func (Report) Formats() []string {
	return []string{"human", "brief", "json", "summary", "dot", "mermaid"}
}

// Render shows a report in one of the Formats. The options are for "human".
func (r Report) Render(format string, opt plan.Options) (string, error) {
	switch format {
	case "human":
		return r.human(opt), nil
	case "summary":
		return r.summary(), nil
	case "brief":
		return r.brief(), nil
	case "json":
		out, err := plan.Encode(r.document())
		return string(out), err
	case "dot":
		return plan.DOT(r.Document), nil
	case "mermaid":
		return plan.Mermaid(r.Document), nil
	}
	return "", unknownFormat(format, r.Formats())
}

func unknownFormat(format string, legal []string) error {
	return fmt.Errorf("%q %w; legal: %s", format, errFormat, strings.Join(legal, ", "))
}

// document returns the document for programs: Services that are left alone have an entry of
// their own, and a warning in an empty plan.
func (r Report) document() plan.Document {
	var remarks []plan.Remark
	var left []plan.LeftDoc
	for _, l := range r.Left {
		remarks = append(remarks, plan.Remark{Owner: l.Owner, Problems: []plan.Problem{{Severity: plan.Warning, Text: "is left alone: " + l.Why}}})
		left = append(left, plan.LeftDoc{Owner: l.Owner, Why: l.Why})
	}
	doc := r.Document.WithRemarks(remarks...)
	doc.Left = append(doc.Left, left...)
	return doc
}

// human leads with the Services that are left alone: they have no plan, and a
// plan that said "no changes" for them would be taken for more than it says.
func (r Report) human(opt plan.Options) string {
	var b strings.Builder
	for _, l := range r.Left {
		writeWrapped(&b, opt.Width, fmt.Sprintf("Service %s is left alone: %s", l.Owner, l.Why))
	}
	if len(r.Left) > 0 {
		b.WriteByte('\n')
	}
	if len(r.Document.Plans) > 0 || len(r.Left) == 0 && r.hidden == "" {
		b.WriteString(plan.Human(r.Document, opt))
		return b.String()
	}
	b.WriteString(r.empty())
	return b.String()
}

func rankProblem(p plan.Problem) int {
	if p.Severity == plan.Error {
		return 0
	}
	return 1
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Widths of lines in characters, as those of plan.Human.
const (
	defaultWidth = 80
	minWidth     = 60
)

// writeWrapped writes a line broken between words, the rest indented by two
// more than the first.
func writeWrapped(b *strings.Builder, width int, text string) {
	if width == 0 {
		width = defaultWidth
	}
	width = max(width, minWidth)
	indent := len(text) - len(strings.TrimLeft(text, " "))
	line := strings.Repeat(" ", indent)
	first := true
	for _, word := range strings.Fields(text) {
		if !first && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line, first = strings.Repeat(" ", indent+2), true
		}
		if !first {
			line += " "
		}
		line, first = line+word, false
	}
	b.WriteString(line + "\n")
}

func encodeJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // read by people and programs, not put into a page
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("output as JSON: %w", err)
	}
	return b.String(), nil
}
