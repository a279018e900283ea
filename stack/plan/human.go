package plan

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Options configure the output of [Human].
type Options struct {
	// Color permits terminal colours. The caller checks whether the output is a terminal
	// and NO_COLOR is unset.
	Color bool
	// Width is the longest line in characters; 0 means 80, less than 60 means 60.
	Width int
	// Whole shows values in full, with lines of any length, for outputs without a width,
	// such as the log of a CI system.
	Whole bool
}

const (
	defaultWidth = 80
	minWidth     = 60
)

// noChanges follows the owner of a plan without steps.
const noChanges = "  no changes"

// Human returns a document as text for people: one plan in full; for many plans one line
// for each owner without changes and the others in full, totals last. It depends only on
// the document, so it can show a decoded one.
func Human(doc Document, opt Options) string {
	p := newPage(opt)
	switch len(doc.Plans) {
	case 0:
		p.line(0, plainSpan("No changes. There is no Service to plan for."))
	case 1:
		renderOne(p, doc)
	default:
		renderMany(p, doc)
	}
	return p.String()
}

func renderOne(p *page, doc Document) {
	only := doc.Plans[0]
	if only.quiet() {
		p.prose(0, 0, idleSentence(only))
		return
	}
	renderLegend(p, doc)
	renderHeading(p, only, doc.Provider)
	renderDetails(p, only)
	p.blank()
	p.prose(0, 0, endSentence(only.Summary, only.failed(), ofOwner(only.Owner)))
}

func renderMany(p *page, doc Document) {
	renderLegend(p, doc)
	quiet, wide := 0, 0
	for _, plan := range doc.Plans {
		if plan.quiet() {
			quiet++
			wide = max(wide, textWidth(plan.Owner.String()))
		}
	}
	wide = min(wide, p.width-textWidth(noChanges))
	for _, plan := range doc.Plans {
		if plan.quiet() {
			p.line(0, plainSpan(padRight(plan.Owner.String(), wide)), faintSpan(noChanges))
		}
	}
	for i, plan := range doc.Plans {
		if plan.quiet() {
			continue
		}
		if i > 0 || quiet > 0 {
			p.blank()
		}
		renderHeading(p, plan, doc.Provider)
		renderDetails(p, plan)
	}
	p.blank()
	failed := 0
	for _, plan := range doc.Plans {
		if plan.failed() {
			failed++
		}
	}
	counts := fmt.Sprintf("%d plans, %d with nothing to do", len(doc.Plans), quiet)
	if failed > 0 {
		counts += fmt.Sprintf(", %d with errors", failed)
	}
	p.prose(0, 0, counts+".")
	p.prose(0, 0, endSentence(doc.Summary(), failed == len(doc.Plans), otherServices(failed)))
}

// otherServices returns the Services of the last sentence.
func otherServices(failed int) string {
	if failed > 0 {
		return "the Services without errors"
	}
	return "all Services"
}

// quiet reports whether a plan has nothing to show.
func (p Doc) quiet() bool { return len(p.Steps) == 0 && len(p.Held) == 0 && len(p.Problems) == 0 }

func renderHeading(p *page, plan Doc, provider string) {
	name := "Service " + plan.Owner.String()
	if plan.Owner.IsCluster() {
		name = "Shared by all Services of the cluster"
	}
	if provider != "" {
		name += " (" + provider + ")"
	}
	p.prose(0, 2, name)
}

func renderDetails(p *page, plan Doc) {
	for _, problem := range plan.Problems {
		p.blank()
		showProblem(p, problem)
	}
	for _, b := range pairBlocks(plan.Steps) {
		p.blank()
		b.show(p)
	}
	if len(plan.Held) > 0 {
		p.blank()
		p.prose(2, 2, "Held, will not be done:")
	}
	for _, h := range plan.Held {
		p.blank()
		b := block{main: h.Step, held: heldText(h)}
		b.show(p)
	}
	showTraffic(p, plan.Traffic)
}

func showProblem(p *page, problem Problem) {
	color := yellow
	if problem.Severity == Error {
		color = red
	}
	text := problem.Text
	if problem.Where != "" {
		text = problem.Where + ": " + text
	}
	p.mark(2, "!", color, string(problem.Severity)+": "+text)
}

// renderLegend explains the used symbols.
func renderLegend(p *page, doc Document) {
	used := map[string]bool{}
	for _, plan := range doc.Plans {
		for _, b := range pairBlocks(plan.Steps) {
			b.symbols(used)
		}
		for _, h := range plan.Held {
			block{main: h.Step}.symbols(used)
		}
	}
	if len(used) == 0 {
		return
	}
	p.line(0, plainSpan("What the symbols mean:"))
	for _, s := range legendSymbols() {
		if used[s.sign] {
			p.line(0, s.span(), plainSpan(" "+s.means))
		}
	}
	p.blank()
}

// symbol returns the symbol of a step.
type symbol struct {
	sign  string
	means string
	color style
}

func (s symbol) span() span { return span{text: fmt.Sprintf("%5s", s.sign), style: s.color} }

func legendSymbols() []symbol {
	return []symbol{
		{"+", "create", green},
		{"~", "update in place", yellow},
		{"-", "delete", red},
		{"-/+", "replace: delete the old one, then create the new one", red},
		{"+/-", "replace: create the new one, then delete the old one", yellow},
		{".", "forget: it stays for others, only our claim on it ends", dim},
	}
}

func symbolOf(s StepDoc, paired bool) symbol {
	all := legendSymbols()
	switch {
	case paired && s.Replacement == DeleteFirst:
		return all[3]
	case paired:
		return all[4]
	case s.Action == Create || s.completes():
		return all[0]
	case s.Action == Update:
		return all[1]
	case s.Action == Delete:
		return all[2]
	default:
		return all[5]
	}
}

func ofOwner(o stack.Owner) string {
	if o.IsCluster() {
		return "the cluster"
	}
	return "the Service"
}

func idleSentence(p Doc) string {
	return "No changes. The cloud matches " + ofOwner(p.Owner) + "."
}

// endSentence returns the last line: totals if there are changes, else the reason why
// there are none.
func endSentence(s Summary, failed bool, whose string) string {
	switch {
	case s.Steps() == 0 && s.Held > 0:
		return fmt.Sprintf("Nothing can be done now: %s held.", formatCount(s.Held, "step is", "steps are"))
	case s.Steps() == 0 && failed:
		return "No plan: correct the errors above first."
	case s.Steps() == 0:
		return "No changes. The cloud matches " + whose + "."
	case s.Steps() == s.Forget && s.Held == 0:
		return fmt.Sprintf("Nothing will be written: %s, the things themselves stay.", formatCount(s.Forget, "claim ends", "claims end"))
	}
	return formatTotals(s)
}

func formatTotals(s Summary) string {
	text := fmt.Sprintf("Plan: %d to create, %d to update, %d to replace, %d to delete", s.Create, s.Update, s.Replace, s.Delete)
	if s.Forget > 0 {
		text += fmt.Sprintf(", %d to forget", s.Forget)
	}
	var rest []string
	if s.Waiting > 0 {
		rest = append(rest, fmt.Sprintf("%d waiting", s.Waiting))
	}
	if s.Held > 0 {
		rest = append(rest, fmt.Sprintf("%d held", s.Held))
	}
	if len(rest) > 0 {
		text += "; " + strings.Join(rest, ", ")
	}
	return text + "."
}

func formatCount(n int, single, plural string) string {
	if n == 1 {
		return "1 " + single
	}
	return fmt.Sprintf("%d %s", n, plural)
}
