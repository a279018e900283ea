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

// link matches the target of a Markdown link.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks follows every link from a page to a file of the repository. What is
// on the web is not asked for: tests work without it.
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
		for _, target := range broken(filepath.Dir(path), string(body)) {
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

// broken lists the links of a page that lead to no file.
func broken(dir, page string) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		file, _, _ := strings.Cut(m[1], "#")
		if file == "" || strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			out = append(out, m[1])
		}
	}
	return out
}

func TestBrokenLinks(t *testing.T) {
	got := broken(".", "[a](links_test.go) [b](nothing.md#part) [c](https://example.com/x) [d](#here)")
	if len(got) != 1 || got[0] != "nothing.md#part" {
		t.Errorf("got %q, want the one link that leads nowhere", got)
	}
}
