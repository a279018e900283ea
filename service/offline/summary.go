package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berth-lb/berth/service/view"
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
	filter, ok := map[string]struct {
		keep func(plan.Doc) bool
		lack string // of the plans that are left out
	}{
		OnlyChanges:      {func(p plan.Doc) bool { return len(p.Steps)+len(p.Held) > 0 }, "changes"},
		OnlyInterrupting: {func(p plan.Doc) bool { return weighPlan(p) == interrupts }, "steps that interrupt traffic"},
		OnlyErrors:       {func(p plan.Doc) bool { return hasErrors(p.Problems) }, "errors"},
	}[what]
	if !ok {
		return r
	}
	all := len(r.Document.Plans) + len(r.Left)
	r.Document.Plans = slices.DeleteFunc(slices.Clone(r.Document.Plans), func(p plan.Doc) bool { return !filter.keep(p) })
	r.Left = nil
	if n := all - len(r.Document.Plans); n > 0 {
		r.hidden = "Not shown: " + countOf(n, "Service") + " without " + filter.lack + "."
	}
	return r
}

// empty returns what a report without plans says.
func (r Report) empty() string { return cmp.Or(r.hidden, "Nothing to plan.") + "\n" }

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
	return string(w.impact())
}

// impact returns the word of the document.
func (w weight) impact() view.Impact {
	return []view.Impact{view.NoChanges, view.Forgets, view.Updates, view.Creates, view.Deletes, view.Briefly, view.Interrupts, view.Refused}[w]
}

// weighPlan returns the most serious effect of a plan. Blocked steps have none.
func weighPlan(p plan.Doc) weight {
	worst := nothing
	if hasErrors(p.Problems) {
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
	slices.SortStableFunc(plans, func(a, b plan.Doc) int { return int(weighPlan(b)) - int(weighPlan(a)) })
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
		heavy[weighPlan(p)]++
		s := p.Summary
		writeRow(w, p.Owner.String(), weighPlan(p).String(), fmt.Sprint(s.Create), fmt.Sprint(s.Update), fmt.Sprint(s.Replace), fmt.Sprint(s.Delete),
			fmt.Sprint(s.Held), fmt.Sprint(errs), fmt.Sprint(len(p.Problems)-errs))
	}
	for _, l := range r.Left {
		writeRow(w, l.Owner.String(), "left alone", "0", "0", "0", "0", "0", "0", "0")
	}
	_ = w.Flush() // a builder takes everything
	b.WriteByte('\n')
	for _, l := range r.Left {
		fmt.Fprintf(&b, "%s is left alone: %s\n", l.Owner, l.Why)
	}
	total := r.Document.Summary()
	services := counts{{heavy[interrupts], "interrupt traffic"}, {heavy[briefly], "briefly"}, {heavy[refusedAll], "refused"}, {heavy[nothing], "without changes"}, {len(r.Left), "left alone"}}
	steps := counts{{total.Create, "to create"}, {total.Update, "to update"}, {total.Replace, "to replace"}, {total.Delete, "to delete"}, {total.Held, "held"}}
	b.WriteString(countOf(len(plans)+len(r.Left), "Service") + services.text(": ") + ".")
	b.WriteString(steps.text(" ") + strings.Repeat(".", min(1, len(steps.text("")))) + "\n" + r.origin())
	return b.String()
}

// origin returns a line that says that the plan is that of new Services; empty if it is not.
func (r Report) origin() string {
	if !r.Alone {
		return ""
	}
	return "No cluster was asked: each Service is planned as a new one, whether it exists or not.\n"
}

// counts are numbers with what they count.
type counts []struct {
	n    int
	what string
}

// text lists the numbers above zero after the text that leads to them; empty if there are none.
func (c counts) text(lead string) string {
	var parts []string
	for _, one := range c {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return lead + strings.Join(parts, ", ")
}

// brief is a line for each step, and each port: what fits into a pull request.
func (r Report) brief() string {
	var b strings.Builder
	for _, l := range r.Left {
		fmt.Fprintf(&b, "%s is left alone: %s\n", l.Owner, l.Why)
	}
	for _, p := range r.Document.Plans {
		fmt.Fprintf(&b, "%s: %s\n", p.Owner, weighPlan(p))
		for _, problem := range p.Problems {
			fmt.Fprintf(&b, "  %s: %s\n", problem.Severity, strings.TrimPrefix(problem.Where+": "+problem.Text, ": "))
		}
		for _, s := range p.Steps {
			fmt.Fprintf(&b, "  %s\n", stepLine(s))
		}
		for _, h := range p.Held {
			fmt.Fprintf(&b, "  held: %s (%s)\n", stepLine(h.Step), h.By)
		}
		for _, port := range p.Traffic {
			fmt.Fprintf(&b, "  %d/%s %s: %s\n", port.Port, port.Protocol, port.Family, port.Text())
		}
	}
	if len(r.Document.Plans)+len(r.Left) == 0 {
		b.WriteString(r.empty())
	}
	return b.String() + r.origin()
}

// stepLine names a step, and what it does to traffic.
func stepLine(s plan.StepDoc) string {
	switch s.Impact {
	case plan.Interrupts:
		return s.ID + ", interrupts traffic"
	case plan.Brief:
		return s.ID + ", may interrupt for seconds"
	case plan.NoImpact:
	}
	return s.ID
}

func writeRow(w *tabwriter.Writer, cells ...string) {
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // kept until Flush
}
