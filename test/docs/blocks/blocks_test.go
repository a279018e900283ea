package blocks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	page := strings.Join([]string{
		"```sh not-run=cluster", "kubectl get \\", "  pods", "```", "text",
		"  ```console", "  $ berth version", "  v1", "  ...", "  end", "  ```",
		"```", "plain", "```", "```sh not run", "x", "```",
	}, "\n")
	want := []Block{
		{Language: "sh", NotRun: "cluster", Line: 1, Lines: []string{"kubectl get \\", "  pods"}},
		{Language: "console", Line: 6, Lines: []string{"$ berth version", "v1", "...", "end"}},
		{Line: 12, Lines: []string{"plain"}},
		{Language: "illegal: ```sh not run", Line: 15, Lines: []string{"x"}},
	}
	got := Read(page)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]Command{{Text: "kubectl get \\\n  pods"}}, got[0].Commands()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Command{{Text: "berth version", Output: []string{"v1", "...", "end"}}}, got[1].Commands()); diff != "" {
		t.Error(diff)
	}
}

func TestShows(t *testing.T) {
	c := Command{Output: []string{"first", "  ...", "last"}}
	for output, want := range map[string]bool{
		"first\nlast\n": true, "first\na\n\nb\nlast  \n": true, "first\na\n": false, "a\nfirst\nlast": false, "first\nlast\nmore": false,
	} {
		if got := c.Shows(output); got != want {
			t.Errorf("%q: %t, want %t", output, got, want)
		}
	}
}
