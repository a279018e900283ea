package offline

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berth-lb/berth/stack/plan"
)

// Plans that a report can be narrowed to.
const (
	OnlyChanges      = "changes"
	OnlyInterrupting = "interrupting"
	OnlyErrors       = "errors"
)

// Onlys lists the values of Only.
func Onlys() []string { return []string{OnlyChanges, OnlyInterrupting, OnlyErrors} }

// Only returns the report with those plans alone that have what the word says. The
// exit code is that of the whole report as long as it is taken before.
func (r Report) Only(what string) Report {
	keep := map[string]func(plan.Doc) bool{
		OnlyChanges:      func(p plan.Doc) bool { return len(p.Steps)+len(p.Held) > 0 },
		OnlyInterrupting: func(p plan.Doc) bool { return weigh(p) == interrupts },
		OnlyErrors:       func(p plan.Doc) bool { return failed(p.Problems) },
	}[what]
	if keep == nil {
		return r
	}
	r.Document.Plans = slices.DeleteFunc(slices.Clone(r.Document.Plans), func(p plan.Doc) bool { return !keep(p) })
	r.Left = nil
	return r
}

// weight orders plans by what they do to traffic.
type weight int

const (
	nothing weight = iota
	forgets
	updates
	creates
	deletes
	briefly
	interrupts
	refusedAll
)

func (w weight) String() string {
	return []string{"no changes", "forgets", "updates", "creates", "deletes", "brief interruption", "interrupts traffic", "refused"}[w]
}

// weigh is the gravest thing about a plan. Held steps weigh nothing: they are not done.
func weigh(p plan.Doc) weight {
	worst := nothing
	if failed(p.Problems) {
		return refusedAll
	}
	for _, s := range p.Steps {
		w := map[plan.Action]weight{plan.Create: creates, plan.Update: updates, plan.Delete: deletes, plan.Forget: forgets}[s.Action]
		switch s.Impact {
		case plan.Interrupts:
			w = interrupts
		case plan.Brief:
			w = briefly
		case plan.NoImpact:
		}
		worst = max(worst, w)
	}
	return worst
}

// summary is a line for each Service, the gravest first, and totals.
func (r Report) summary() string {
	plans := slices.Clone(r.Document.Plans)
	slices.SortStableFunc(plans, func(a, b plan.Doc) int { return int(weigh(b)) - int(weigh(a)) })
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	writeRow(w, "SERVICE", "IMPACT", "CREATE", "UPDATE", "REPLACE", "DELETE", "HELD", "ERRORS", "WARNINGS")
	heavy := map[weight]int{}
	for _, p := range plans {
		errs := 0
		for _, problem := range p.Problems {
			if problem.Severity == plan.Error {
				errs++
			}
		}
		heavy[weigh(p)]++
		s := p.Summary
		writeRow(w, p.Owner.String(), weigh(p).String(), fmt.Sprint(s.Create), fmt.Sprint(s.Update), fmt.Sprint(s.Replace), fmt.Sprint(s.Delete),
			fmt.Sprint(s.Held), fmt.Sprint(errs), fmt.Sprint(len(p.Problems)-errs))
	}
	_ = w.Flush() // a builder takes everything
	total := r.Document.Summary()
	fmt.Fprintf(&b, "\n%s: %d interrupt traffic, %d briefly, %d refused, %d without changes. %d to create, %d to update, %d to replace, %d to delete, %d held.\n",
		count(len(plans), "Service"), heavy[interrupts], heavy[briefly], heavy[refusedAll], heavy[nothing],
		total.Create, total.Update, total.Replace, total.Delete, total.Held)
	return b.String()
}

func writeRow(w *tabwriter.Writer, cells ...string) {
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // kept until Flush
}
