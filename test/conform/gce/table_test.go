package conform

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is what was tried and what came of it.
type table struct{ rows [][]string }

func (r *table) add(part, name, result, detail string) {
	r.rows = append(r.rows, []string{part, name, result, detail})
}

func (r *table) print(to io.Writer) error {
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nPART\tCASE\tRESULT\tDETAIL")
	for _, row := range r.rows {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

func result(failed bool) string {
	if failed {
		return "FAILED"
	}
	return "ok"
}
