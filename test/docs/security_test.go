package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityProofs: every line of what a tenant cannot do names tests, and there are
// tests of these names.
func TestSecurityProofs(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "### What a tenant cannot do")
	table, _, ends := strings.Cut(rest, "###")
	if !found || !ends {
		t.Fatal("the page has no such table")
	}
	there := testNames(t)
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	lines := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| A tenant could") {
			continue
		}
		lines++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		proofs := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(proofs) == 0 {
			t.Errorf("no test proves: %.80s", line)
		}
		for _, p := range proofs {
			if !there[p[1]] {
				t.Errorf("there is no test %s, which is to prove: %.80s", p[1], line)
			}
		}
	}
	if lines < 10 {
		t.Errorf("the table has %d lines only", lines)
	}
}

// testNames are all tests and fuzz tests of the repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		body, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(body), -1) {
			out[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
