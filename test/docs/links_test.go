package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	// link matches the target of a Markdown link.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// heading matches the text of a Markdown heading.
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// fence matches a block of code, whose comments are no headings.
	fence = regexp.MustCompile("(?ms)^```.*?^```$")
	// linkText matches a link inside a heading, of which the anchor keeps the text.
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	// dropped matches the characters of a heading that its anchor leaves out.
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks follows every link from a page to a file of the repository and to a
// heading in it. Links to the web are not followed: tests run without it.
func TestLinks(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range brokenLinks(path, string(body)) {
			t.Errorf("%s: %s leads nowhere", strings.TrimPrefix(path, root+"/"), target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 5 {
		t.Errorf("found %d pages: the test does not see the repository", pages)
	}
}

// brokenLinks lists the links of a page whose file or heading does not exist.
func brokenLinks(path, page string) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		file, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
			continue
		}
		text := page
		if file != "" {
			target := filepath.Join(filepath.Dir(path), file)
			info, err := os.Stat(target)
			if err != nil {
				out = append(out, m[1])
				continue
			}
			if anchor == "" || info.IsDir() || filepath.Ext(target) != ".md" {
				continue
			}
			body, err := os.ReadFile(target)
			if err != nil {
				out = append(out, m[1])
				continue
			}
			text = string(body)
		}
		if anchor != "" && !anchorsOf(text)[anchor] {
			out = append(out, m[1])
		}
	}
	return out
}

// anchorsOf returns the anchors that GitHub gives the headings of a page.
func anchorsOf(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		text := linkText.ReplaceAllString(strings.TrimSpace(m[1]), "$1")
		out[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(text), ""), " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		out[m[1]] = true
	}
	return out
}

func TestBrokenLinks(t *testing.T) {
	page := "# Here, `there`\n\n[a](links_test.go) [b](nothing.md#part) [c](https://example.com/x) [d](#here-there) [e](#nowhere) [f](../../README.md#nowhere)"
	got := strings.Join(brokenLinks("page.md", page), " ")
	if want := "nothing.md#part #nowhere ../../README.md#nowhere"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
