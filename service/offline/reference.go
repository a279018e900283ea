package offline

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Row is one key of one provider.
type Row struct {
	Provider string `json:"provider"`
	annotations.Row
}

// ReferenceFormats lists the legal values of Reference's format.
func ReferenceFormats() []string { return []string{"table", "json", "markdown"} }

// Reference formats the annotations of the clouds in one of the ReferenceFormats: all of
// them, or the ones with every word in key or text, which the table then describes in
// full. Markdown always lists all.
func Reference(clouds []providers.Entry, format string, words ...string) (string, error) {
	rows := []Row{}
	var pages []string
	for _, c := range clouds {
		for _, r := range annotations.Rows(c.Annotations) {
			if row := (Row{Provider: c.Name, Row: r}); row.has(words) {
				rows = append(rows, row)
			}
		}
		pages = append(pages, annotations.Markdown(c.Annotations, "Annotations of "+c.Name, ""))
	}
	switch {
	case len(words) > 0 && len(rows) == 0:
		return "", fmt.Errorf("no annotation has %q in its name or text; `berth annotations` lists all", strings.Join(words, " "))
	case len(words) > 0 && format == "table":
		return describeRows(rows), nil
	}
	switch format {
	case "table":
		return tabulateRows(rows)
	case "json":
		return encodeJSON(rows)
	case "markdown":
		return strings.Join(pages, "\n"), nil
	}
	return "", unknownFormat(format, ReferenceFormats())
}

// has reports whether all words are in the key or its description.
func (r Row) has(words []string) bool {
	text := strings.ToLower(r.Key + " " + r.Doc)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) })
}

// describeRows describes each key in full, a paragraph each.
func describeRows(rows []Row) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  %s\n", r.Key, r.Doc)
		for _, line := range [][2]string{
			{"cloud", r.Provider}, {"on", string(r.On)}, {"kinds", strings.Join(r.Kinds, ", ")}, {"legal", r.Legal}, {"default", r.Default},
			{"a change", string(r.Change)}, {"removal", string(r.Removal)}, {"a bad value", r.Bad}, {"support", strings.TrimSuffix(string(r.Support)+": "+r.Reason, ": ")}, {"example", r.Example},
		} {
			if line[1] != "" {
				fmt.Fprintf(&b, "  %-12s %s\n", line[0], line[1])
			}
		}
	}
	return b.String()
}

func tabulateRows(rows []Row) (string, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, "PROVIDER\tKEY\tON\tKINDS\tTYPE\tDEFAULT\tSUPPORT"); err != nil {
		return "", err
	}
	for _, r := range rows {
		cells := []string{r.Provider, r.Key, string(r.On), strings.Join(r.Kinds, ","), r.Type, cutText(r.Default), string(r.Support)}
		if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
			return "", err
		}
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return b.String(), nil
}

// maxCell keeps a long sentence from pushing the next column off the screen;
// JSON and Markdown have it in full.
const maxCell = 32

func cutText(text string) string {
	if text == "" {
		return "-"
	}
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-3]) + "..."
	}
	return text
}
