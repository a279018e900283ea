package arch

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "lower the budget of words to what is counted")

const budgetFile = "words.txt"

// TestWords compares the repository's language with the budget, which only goes down.
func TestWords(t *testing.T) {
	text, err := os.ReadFile(budgetFile)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := ParseBudget(string(text))
	if err != nil {
		t.Fatal(err)
	}
	offences := Offences(readTree(t))
	if *update {
		budget = budget.Lower(CountWords(offences))
		if err := os.WriteFile(budgetFile, []byte(budget.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reportFindings(t, "readers know Go and Kubernetes; wording of our own makes them read twice", budget.Check(offences))
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
	got := CountWords(Offences([]Text{{Path: "x/page.md", Body: []byte(page)}}, []Source{source}))
	want := Budget{}
	for _, p := range Phrases() {
		want[Entry{"x", p.Name}] = 1
	}
	want[Entry{"x", "goes"}] = 3
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestBudget covers the three ways in which a count meets its budget.
func TestBudget(t *testing.T) {
	budget, err := ParseBudget("# comment\na who 2\nb who 1\n")
	if err != nil {
		t.Fatal(err)
	}
	offences := []Offence{{"a", "who", "a/x.go:1: \"who\""}, {"c", "who", "c/x.go:1: \"who\""}}
	if got := len(budget.Check(offences)); got != 4 { // a less, b less, c more and its place
		t.Errorf("%d findings, want 4: %q", got, budget.Check(offences))
	}
	lower := budget.Lower(CountWords(offences))
	if diff := cmp.Diff("a who 1\n", lower.String()[len(Budget{}.String()):]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := ParseBudget("a who\n"); err == nil {
		t.Error("a line without a count is accepted")
	}
}
