package kit

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
)

// Table lists the cases and their results.
type Table struct{ rows [][]string }

// Add records the result of one case.
func (r *Table) Add(part, name string, failed bool, detail string) {
	result := "ok"
	if failed {
		result = "FAILED"
	}
	r.rows = append(r.rows, []string{part, name, result, detail})
}

// Print shows all at the end of a test.
func (r *Table) Print(t *testing.T) {
	t.Helper()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nPART\tCASE\tRESULT\tDETAIL")
	for _, row := range r.rows {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	if err := out.Flush(); err != nil {
		t.Error(err)
	}
}
