package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack/plan"
)

// Formats lists the legal values of Render's format.
func (Checkup) Formats() []string { return []string{"human", "json"} }

// ExitCode is plan.ExitChanges if a check has found an error, else plan.ExitNothing.
func (c Checkup) ExitCode() int {
	if slices.ContainsFunc(c.Results, func(d providers.Diagnosis) bool { return d.Result == providers.Faulty }) {
		return plan.ExitChanges
	}
	return plan.ExitNothing
}

// Render formats the results. For readers, equal results of one code are one entry.
func (c Checkup) Render(format string, width int) (string, error) {
	switch format {
	case "json":
		if c.Results == nil {
			c.Results = []providers.Diagnosis{}
		}
		return encodeJSON(c)
	case "human":
		return c.text(width), nil
	}
	return "", unknownFormat(format, c.Formats())
}

// resultOrder returns the results in the order of the report.
func resultOrder() []providers.Result {
	return []providers.Result{providers.Faulty, providers.Doubtful, providers.NotChecked, providers.Fine}
}

func (c Checkup) text(width int) string {
	var b strings.Builder
	count := map[providers.Result]int{}
	for _, level := range resultOrder() {
		for _, group := range groupResults(c.Results, level) {
			count[level] += len(group)
			c.writeGroup(&b, width, group)
		}
	}
	var totals []string
	for _, level := range resultOrder() {
		totals = append(totals, fmt.Sprintf("%d %s", count[level], level))
	}
	writeWrapped(&b, width, "Checks: "+strings.Join(totals, ", ")+".")
	return b.String()
}

// writeGroup writes results that differ in their objects alone.
func (c Checkup) writeGroup(b *strings.Builder, width int, group []providers.Diagnosis) {
	d := group[0]
	if d.Result == providers.Fine && !c.Verbose && len(group) > 1 {
		writeWrapped(b, width, fmt.Sprintf("%s %s: %s: %s", d.Result, d.Code, countOf(len(group), "object"), d.State))
		return
	}
	var about []string
	for _, one := range group {
		about = append(about, one.About)
	}
	writeWrapped(b, width, fmt.Sprintf("%s %s: %s: %s", d.Result, d.Code, strings.Join(about, ", "), d.State))
	if d.Cause != "" {
		writeWrapped(b, width, "  cause: "+d.Cause)
	}
	if d.Next != "" {
		writeWrapped(b, width, "  next: "+d.Next)
	}
}

// groupResults returns the results of one level, equal but for their objects together.
func groupResults(all []providers.Diagnosis, level providers.Result) [][]providers.Diagnosis {
	var out [][]providers.Diagnosis
	for _, d := range all {
		if d.Result != level {
			continue
		}
		same := func(group []providers.Diagnosis) bool {
			first := group[0]
			first.About = d.About
			return first == d
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = append(out[i], d)
			continue
		}
		out = append(out, []providers.Diagnosis{d})
	}
	return out
}
