package main

import (
	"strings"
	"testing"
)

const (
	before = "# Page\n\nText.\n\n" + header + "\n|---|---|---|---|\n"
	after  = "\nMore.\n"
)

// TestUpdateTable: measured packages get new rows, others keep theirs, and packages that do not
// exist any more or take less than a second have none.
func TestUpdateTable(t *testing.T) {
	page := before + "| `a` | 40 | 2026-01-01 | 2 processors, go1 |\n| `b` | 30 | 2026-01-01 | 2 processors, go1 |\n| `gone` | 20 | 2026-01-01 | 2 processors, go1 |\n" + after
	all := []suite{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}
	got, err := updateTable(page, []row{{"a", 12.4, "2026-02-02", "4 processors, go2"}, {"c", 0.9, "2026-02-02", "4 processors, go2"}, {"d", 1, "2026-02-02", "4 processors, go2"}}, all)
	if err != nil {
		t.Fatal(err)
	}
	want := before + "| `b` | 30 | 2026-01-01 | 2 processors, go1 |\n| `a` | 12 | 2026-02-02 | 4 processors, go2 |\n| `d` | 1 | 2026-02-02 | 4 processors, go2 |\n" + after
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestUpdateTableRefuses: a page without the table, or with a line that is no measurement, stays.
func TestUpdateTableRefuses(t *testing.T) {
	for page, want := range map[string]string{
		"# Page\n":                        "no table",
		before + "| `a` | 40 |\n" + after: "4 cells",
		before + "| `a` | x | d | m |\n":  "seconds of `a`",
		strings.TrimSuffix(before, "\n"):  "",
		before + "| `a` | 1 | d | m |":    "",
	} {
		_, err := updateTable(page, nil, []suite{{name: "a"}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", page, err, want)
		}
	}
}
