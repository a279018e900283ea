package annotations

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// otherGroup is the heading for keys that name no group.
const otherGroup = "Other"

// Markdown renders the reference page of a set: a table of contents by group,
// then one section per key, groups and keys in the order of their declaration.
func Markdown(set *Set, title, intro string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", title)
	if intro = strings.TrimSpace(intro); intro != "" {
		fmt.Fprintf(&b, "\n%s\n", intro)
	}
	groups := set.groups()
	link := anchors{}
	link.to(title)
	link.to("Contents")
	targets := map[string]string{}
	for _, g := range groups {
		targets[g.name] = link.to(g.name)
		for _, r := range g.rows {
			targets[formatHeading(r)] = link.to(formatHeading(r))
		}
	}
	b.WriteString("\n## Contents\n\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "- [%s](#%s)\n", g.name, targets[g.name])
		for _, r := range g.rows {
			fmt.Fprintf(&b, "  - [`%s`](#%s)%s\n", r.Key, targets[formatHeading(r)], contentsMark(r))
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g.name)
		for _, r := range g.rows {
			writeSection(&b, r)
		}
	}
	set.writeForeign(&b)
	return b.String()
}

// group is one heading of the page.
type group struct {
	name string
	rows []Row
}

func (s *Set) groups() []group {
	named := s.byName()
	slices.SortStableFunc(named, func(a, b []*declaration) int { return cmp.Compare(a[0].order, b[0].order) })
	var out []group
	for _, ds := range named {
		r := s.row(ds)
		name := orElse(r.Group, otherGroup)
		at := slices.IndexFunc(out, func(g group) bool { return g.name == name })
		if at < 0 {
			out = append(out, group{name: name})
			at = len(out) - 1
		}
		out[at].rows = append(out[at].rows, r)
	}
	return out
}

// formatHeading returns the heading of a row: the key, and its place unless it is an annotation.
func formatHeading(r Row) string {
	if r.On == ServiceAnnotation {
		return r.Key
	}
	return r.Key + " (" + string(r.On) + ")"
}

// anchors gives out link targets in the order of the headings: the second
// heading with the same slug gets "-1", as GitHub and others do.
type anchors map[string]int

func (a anchors) to(text string) string {
	base := makeSlug(text)
	n := a[base]
	a[base]++
	if n == 0 {
		return base
	}
	return base + "-" + strconv.Itoa(n)
}

func makeSlug(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-', c == '_', unicode.IsLetter(c), unicode.IsDigit(c):
			b.WriteRune(c)
		}
	}
	return b.String()
}

func contentsMark(r Row) string {
	switch r.Support {
	case Accepted:
		return " (no effect)"
	case Later:
		return " (not yet)"
	}
	return ""
}

func writeSection(b *strings.Builder, r Row) {
	if r.On == ServiceAnnotation {
		fmt.Fprintf(b, "\n### `%s`\n", r.Key)
	} else {
		fmt.Fprintf(b, "\n### `%s` (%s)\n", r.Key, r.On)
	}
	fmt.Fprintf(b, "\n%s\n\n", r.Doc)
	variants := r.Variants
	if len(variants) == 0 {
		variants = []Facts{r.Facts}
	}
	writeTable(b, variants)
	for _, line := range listRemarks(r) {
		fmt.Fprintf(b, "\n%s\n", line)
	}
	if r.Example != "" && r.On == ServiceAnnotation {
		fmt.Fprintf(b, "\n```yaml\n%s: %s\n```\n", r.Key, yamlText(r.Example))
	} else if r.Example != "" {
		fmt.Fprintf(b, "\nExample: `%s`\n", r.Example)
	}
}

// tableLine is one property of a form, as a line of the key's table.
type tableLine struct {
	title string
	text  func(Facts) string
}

// tableLines are the lines of a key's table; a line that is empty for every form
// is left out.
func tableLines() []tableLine {
	return []tableLine{
		{"Type", func(f Facts) string { return f.Type }},
		{"Legal values", func(f Facts) string { return f.Legal }},
		{"Default", func(f Facts) string { return f.Default }},
		{"A change", func(f Facts) string { return changeText(f.Change) }},
		{"Removing the key", func(f Facts) string { return removalText(f.Removal) }},
		{"A bad value", badSentence},
		{"An empty value", emptySentence},
		{"Has no effect without", func(f Facts) string { return strings.Join(f.Needs, "; and ") }},
		{"Support", supportText},
		{"Note", func(f Facts) string { return f.Note }},
		{"Source", func(f Facts) string { return f.Source }},
	}
}

func writeTable(b *strings.Builder, variants []Facts) {
	b.WriteString("| |")
	for _, v := range variants {
		fmt.Fprintf(b, " %s |", escapeCell(orElse(strings.Join(v.Kinds, ", "), "every kind")))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(variants)) + "\n")
	for _, line := range tableLines() {
		texts := make([]string, 0, len(variants))
		for _, v := range variants {
			texts = append(texts, escapeCell(line.text(v)))
		}
		if strings.Join(texts, "") != "" {
			fmt.Fprintf(b, "| %s | %s |\n", line.title, strings.Join(texts, " | "))
		}
	}
}

// escapeCell escapes a text for a table cell.
func escapeCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`).Replace(text)
}

func changeText(c Change) string {
	switch c {
	case InPlace:
		return "is made in place"
	case Brief:
		return "interrupts traffic briefly"
	case Replaced:
		return "replaces the resource"
	case IgnoredAfterCreation:
		return "has no effect after creation"
	case Refused:
		return "is refused"
	}
	return string(c)
}

// removalText describes a removal that does not bring the default back.
func removalText(r Removal) string {
	if r == "" {
		return ""
	}
	return "leaves the last value in effect"
}

func badSentence(f Facts) string {
	if f.Bad == string(Refuse) {
		return "is refused; the last good load balancer stays"
	}
	return f.Bad + ", with a warning"
}

// emptySentence describes an empty value that is neither bad nor read like any other.
func emptySentence(f Facts) string {
	if f.Empty == emptyIllegal || f.Empty == emptyValue {
		return ""
	}
	return f.Empty
}

func supportText(f Facts) string {
	switch f.Support {
	case Accepted:
		return "accepted without effect: " + f.Reason
	case Later:
		return "not yet supported: " + f.Reason
	}
	return ""
}

func listRemarks(r Row) []string {
	var out []string
	if r.PerPort {
		marks := "`" + orElse(portMarkOf(r.Key), portMark) + "` is the number of a Service port"
		if strings.Contains(r.Key, protocolMark) {
			marks += ", `<PROTOCOL>` the protocol of its listener"
		}
		out = append(out, marks+".")
	}
	if len(r.Aliases) > 0 {
		out = append(out, "Deprecated spelling: `"+strings.Join(r.Aliases, "`, `")+"`.")
	}
	switch r.Writer {
	case ByController:
		out = append(out, "The controller writes it; what a user writes there is not read.")
	case ByBoth:
		out = append(out, "The controller writes it as well.")
	case ByUser:
	}
	switch r.Exposes {
	case ToInternet:
		out = append(out, "Decides whether the internet is admitted. A misspelt key, or a value that is not legal, is refused where a new load balancer would be public; a live one is kept.")
	case ToAccounts:
		out = append(out, "Admits clients of other accounts.")
	}
	if r.Limits {
		out = append(out, "Limits the clients. Without effect (misspelt, on a kind that does not read it, or with a value that is not legal) it is refused: no load balancer is created, and a live one is kept.")
	}
	if r.OnDelete {
		out = append(out, "Also read while the Service is deleted; a bad value then means what destroys least.")
	}
	if r.Secret {
		out = append(out, "The value is secret and never shown.")
	}
	return out
}

// yamlText quotes always, because annotations are strings and an unquoted
// number or bool is a common mistake.
func yamlText(value string) string {
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

func (s *Set) writeForeign(b *strings.Builder) {
	first := true
	for _, d := range s.declarations {
		if !d.foreign {
			continue
		}
		if first {
			b.WriteString("\n## Keys of other programs\n\nThese are neither read nor warned about.\n\n")
			first = false
		}
		fmt.Fprintf(b, "- `%s`: %s\n", d.key.Name, d.key.Doc)
	}
}
