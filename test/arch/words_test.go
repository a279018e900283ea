package arch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWords demands that no file of the repository uses one of the phrases.
func TestWords(t *testing.T) {
	reportFindings(t, "readers know Go and Kubernetes; wording of our own makes them read twice", FindPhrases(Offences(readTree(t))))
}

// TestPhrasesAreFound gives every phrase something to find.
func TestPhrasesAreFound(t *testing.T) {
	bad := `// Package bad is.
package bad

// of tells whether the guilty one is there and is told for good.
// Nobody goes anew: who looks again is one of those that remain.
func of(newcomer int) string { return "the Service is gone" }
`
	page := "# Title\n\nOne two three four five six seven eight nine ten one two three four five six seven eight nine ten one two three four five six seven eight nine ten eleven.\n\n" +
		"```\nnobody\n```\n\n- `nobody` comes\n"
	source, err := Parse("x/bad.go", []byte(bad))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, o := range Offences([]Text{{Path: "x/page.md", Body: []byte(page)}}, []Source{source}) {
		got[o.Phrase]++
	}
	want := map[string]int{}
	for _, p := range Phrases() {
		want[p.Name] = 1
	}
	want["goes"] = 3
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFindPhrases: a finding names the place, the phrase and what to write instead.
func TestFindPhrases(t *testing.T) {
	got := FindPhrases([]Offence{{Phrase: "anew", At: `a/x.go:1: "anew"`}})
	want := []Finding{`a/x.go:1: "anew" (anew); write: recreate, again`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
