package site

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/doctor"
	"github.com/berth-lb/berth/status"
)

// Pages are Markdown pages by their path below docs.
type Pages map[string]string

// Read returns the pages of a folder and the folders below it.
func Read(dir string) (Pages, error) {
	out := Pages{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	return out, err
}

// Files returns the generated pages. Each lists the pages of docs that mention it.
func Files(docs Pages) Pages {
	out := Pages{
		"problems/_index.md": writeHead("Codes") + "Every problem of a Service and every check of a setup has a code, which never changes its meaning.\n",
		"events/_index.md":   writeHead("Reasons") + "Reasons of the conditions and of the events that Berth records on a Service.\n",
	}
	for _, c := range annotations.Codes() {
		severity := c.Severity
		if severity == "both" {
			severity = "error or warning"
		}
		out.addCode(docs, string(c.Code), c.Title, fmt.Sprintf("Severity: %s.\n\n%s\n\n## What to do\n\n%s\n", severity, c.Doc, c.Fix), "problems")
	}
	for _, c := range doctor.Checks() {
		out.addCode(docs, c.Code, strings.ReplaceAll(c.Fault, "`", ""), fmt.Sprintf("`berth doctor` checks: %s\n\n## What to do\n\n%s\n", c.Asks, c.Helps), "doctor")
	}
	for name, uses := range describeReasons() {
		text := writeHead(name) + strings.Join(uses, "\n") + listMentions(docs, "`"+name+"`")
		out["events/"+strings.ToLower(name)+".md"] = text + "\nAll reasons: [Conditions and events](../reference/status.md).\n"
	}
	return out
}

// addCode adds the page of a code. List is the page of the reference that has all of its kind.
func (p Pages) addCode(docs Pages, code, title, text, list string) {
	p["problems/"+strings.ToLower(code)+".md"] = writeHead(code+": "+title) + text + listMentions(docs, code) +
		fmt.Sprintf("\nAll codes of this kind: [reference](../reference/%s.md).\n", list)
}

// describeReasons returns what each reason means, as a reason of conditions and as one of events.
func describeReasons() map[string][]string {
	out := map[string][]string{}
	for _, r := range status.Reasons() {
		value := "False"
		if r.True {
			value = "True"
		}
		out[string(r.Reason)] = append(out[string(r.Reason)], fmt.Sprintf("## Condition %#q\n\nStatus: %s. %s\n", r.Type, value, r.Doc))
	}
	for _, e := range status.EventReasons() {
		out[string(e.Reason)] = append(out[string(e.Reason)], fmt.Sprintf("## Event\n\nType: %s. %s\n", e.Type, e.Doc))
	}
	return out
}

// writeHead returns the front matter of a page.
func writeHead(title string) string { return fmt.Sprintf("---\ntitle: %q\n---\n\n", title) }

// listMentions lists the pages that people write and that mention a word. All generated pages are in
// a folder directly below the first one.
func listMentions(docs Pages, word string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		folder := path.Dir(name)
		if !strings.Contains(docs[name], word) || folder != "guides" && folder != "providers" {
			continue
		}
		fmt.Fprintf(&b, "- [%s](%s)\n", titleOf(docs[name]), "../"+name)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Pages\n\n" + b.String()
}

// titleOf returns the text of the first heading.
func titleOf(page string) string {
	for line := range strings.Lines(page) {
		if title, found := strings.CutPrefix(line, "# "); found {
			return strings.TrimSpace(title)
		}
	}
	return ""
}
