package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/docs/blocks"
)

// languages are the legal ones of a fence.
const languages = "console go ini json sh text yaml"

// programs matches a line that calls a program.
var programs = regexp.MustCompile(`^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:berth|cloud-controller-manager|curl|git|go|helm|kubectl|make) [a-z.<-]`)

// wrongBlocks lists what is wrong with the fences of a page.
func wrongBlocks(page string) []string {
	var out []string
	for _, b := range blocks.Read(page) {
		switch {
		case !slices.Contains(strings.Fields(languages), b.Language):
			out = append(out, b.Language+" is no language")
		case b.HasCommands() && b.NotRun != "" && blocks.Reasons()[b.NotRun] == "":
			out = append(out, b.NotRun+" is no reason")
		case !b.HasCommands() && (b.NotRun != "" || slices.ContainsFunc(b.Lines, programs.MatchString)):
			out = append(out, b.Language+" has commands")
		case b.HasCommands() && len(b.Commands()) == 0:
			out = append(out, "no commands")
		}
	}
	return out
}

// TestCommandBlocks: each block has a language, and a block of commands that is not run has a legal
// reason. TestPages of cmd/berth runs all others.
func TestCommandBlocks(t *testing.T) {
	bad := strings.Join([]string{"```", "x", "```", "```sh not-run=rain", "berth version", "```", "```text", "$ berth version", "```", "```console", "output", "```"}, "\n")
	if got := wrongBlocks(bad); len(got) != 4 {
		t.Errorf("got %q: the test does not see wrong blocks", got)
	}
	seen := 0
	visitPages(t, func(path, text string) {
		if filepath.Ext(path) != ".md" || strings.HasPrefix(path, "examples/") {
			return
		}
		seen += len(blocks.Read(text))
		for _, wrong := range wrongBlocks(text) {
			t.Errorf("%s: %s", path, wrong)
		}
	})
	if seen < 300 {
		t.Errorf("%d blocks: the test does not see the pages", seen)
	}
	page, err := os.ReadFile(root + "/docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	for reason, meaning := range blocks.Reasons() {
		if row := "| `not-run=" + reason + "` | " + meaning + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/testing.md does not have %q", row)
		}
	}
}
