package edits

import (
	"fmt"
	"html"
	"strings"

	"github.com/berth-lb/berth/stack/plan"
)

// Human returns the document for a terminal: a paragraph for each Service, the gravest first, and
// totals.
func Human(d Document) string {
	var b strings.Builder
	for _, p := range d.Unreadable {
		fmt.Fprintf(&b, "%s\n", problemLine("error", p))
	}
	if len(d.Unreadable) > 0 {
		b.WriteByte('\n')
	}
	for _, s := range d.Services {
		fmt.Fprintf(&b, "%s%s: %s%s\n", s.Owner, onCloud(s), s.Impact, prefixText(", ", s.Exposure))
		for _, e := range s.Edits {
			fmt.Fprintf(&b, "  %s%s\n", editLine(e), inParentheses(e.At))
		}
		for _, p := range s.Problems {
			fmt.Fprintf(&b, "  %s\n", problemLine("new "+string(p.Severity), p))
		}
		for _, p := range s.Solved {
			fmt.Fprintf(&b, "  %s\n", problemLine("solved", p))
		}
		b.WriteByte('\n')
	}
	return b.String() + countImpacts(d)
}

func onCloud(s Service) string {
	if s.Provider == "" {
		return ""
	}
	return " on " + s.Provider + inParentheses(s.Kind)
}

func prefixText(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// editLine is a difference in one line, without its position.
func editLine(e Edit) string {
	line := e.Where
	switch {
	case e.Before != "" && e.After != "":
		line += fmt.Sprintf(": %q becomes %q", e.Before, e.After)
	case e.After != "":
		line += fmt.Sprintf(": %q is added", e.After)
	case e.Before != "":
		line += fmt.Sprintf(": %q is removed", e.Before)
	}
	return line + ": " + string(e.Impact) + prefixText("; ", e.Text)
}

func problemLine(head string, p Problem) string {
	return fmt.Sprintf("%s %s%s: %s", head, p.Code, prefixText(" ", p.At), prefixText("", strings.TrimPrefix(p.Where+": "+p.Text, ": ")))
}

// countImpacts counts the Services by impact, the gravest first.
func countImpacts(d Document) string {
	heavy := map[Impact]int{}
	for _, s := range d.Services {
		heavy[s.Impact]++
	}
	all := Impacts()
	var parts []string
	for i := len(all) - 1; i >= 0; i-- {
		if n := heavy[all[i]]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, all[i]))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("No difference from %s concerns a load balancer; %d Services compared.\n", d.Base, d.Same)
	}
	return fmt.Sprintf("%d of %d Services differ from %s: %s.\n", len(d.Services), len(d.Services)+d.Same, d.Base, strings.Join(parts, ", "))
}

// markdownLimit bounds a comment on a pull request, in characters. GitHub takes 65,536.
const markdownLimit = 60000

// Markdown returns the document as a comment on a pull request: a table by impact, then the
// details of each Service, folded. Details that would exceed 60,000 characters are left out and
// counted.
func Markdown(d Document) string {
	var b strings.Builder
	b.WriteString("### Load balancers\n\n" + escapeText(strings.TrimSpace(countImpacts(d))) + "\n\n")
	for _, p := range d.Unreadable {
		b.WriteString("- " + escapeText(problemLine("error", p)) + "\n")
	}
	if len(d.Services) == 0 {
		return b.String()
	}
	b.WriteString(strings.Repeat("\n", min(1, len(d.Unreadable)))) // a list ends before a table
	rows := tableRows(d, &b)
	b.WriteString("\n")
	left := 0
	for _, s := range d.Services[:rows] {
		block := foldedDetails(s)
		if left > 0 || b.Len()+len(block) > markdownLimit-200 {
			left++
			continue
		}
		b.WriteString(block)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nThe details of %d more Services do not fit into this comment: run `berth diff`.\n", left)
	}
	return b.String()
}

// tableRows writes the table and returns how many rows fit.
func tableRows(d Document, b *strings.Builder) int {
	b.WriteString("| Service | Impact | Differences | Clients | Problems |\n| --- | --- | --- | --- | --- |\n")
	for i, s := range d.Services {
		row := fmt.Sprintf("| %s | %s | %d | %s | %s |\n", codeSpan(s.Owner.String()), s.Impact, len(s.Edits), escapeText(s.Exposure), problemCount(s))
		if b.Len()+len(row) > markdownLimit*2/3 {
			fmt.Fprintf(b, "\n%d more Services do not fit into this table.\n", len(d.Services)-i)
			return i
		}
		b.WriteString(row)
	}
	return len(d.Services)
}

func problemCount(s Service) string {
	errs := 0
	for _, p := range s.Problems {
		if p.Severity == plan.Error {
			errs++
		}
	}
	var parts []string
	for _, one := range []struct {
		n    int
		noun string
	}{{errs, "error"}, {len(s.Problems) - errs, "warning"}, {len(s.Solved), "solved"}} {
		switch {
		case one.n == 1 || one.n > 1 && one.noun == "solved":
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.noun))
		case one.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", one.n, one.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// foldedDetails lists the differences of one Service.
func foldedDetails(s Service) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s%s: %s</summary>\n\n", html.EscapeString(s.Owner.String()), html.EscapeString(onCloud(s)), s.Impact)
	for _, e := range s.Edits {
		b.WriteString("- " + codeSpan(e.Where))
		switch {
		case e.Before != "" && e.After != "":
			b.WriteString(": " + codeSpan(e.Before) + " becomes " + codeSpan(e.After))
		case e.After != "":
			b.WriteString(": " + codeSpan(e.After) + " is added")
		case e.Before != "":
			b.WriteString(": " + codeSpan(e.Before) + " is removed")
		}
		fmt.Fprintf(&b, ": **%s**%s%s\n", e.Impact, prefixText("; ", escapeText(e.Text)), inParentheses(escapeText(e.At)))
	}
	for _, p := range s.Problems {
		b.WriteString("- " + escapeText(problemLine("new "+string(p.Severity), p)) + "\n")
	}
	for _, p := range s.Solved {
		b.WriteString("- " + escapeText(problemLine("solved", p)) + "\n")
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// codeSpan shows a text as code, in a table too: GitHub's Markdown takes a bar in a table as the
// end of a cell even in code.
func codeSpan(text string) string {
	text = strings.NewReplacer("\n", " ", "\r", " ", "|", `\|`).Replace(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + strings.ReplaceAll(text, "``", "` `") + " ``"
}

// escapeText returns a text that Markdown and HTML show as it is.
func escapeText(text string) string {
	text = html.EscapeString(strings.Join(strings.Fields(text), " "))
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`).Replace(text)
}
