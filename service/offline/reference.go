package offline

import (
	"fmt"
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

// Reference shows every annotation of the clouds in one of the ReferenceFormats.
func Reference(clouds []providers.Entry, format string) (string, error) {
	rows := []Row{}
	var pages []string
	for _, c := range clouds {
		for _, r := range annotations.Rows(c.Annotations) {
			rows = append(rows, Row{Provider: c.Name, Row: r})
		}
		pages = append(pages, annotations.Markdown(c.Annotations, "Annotations of "+c.Name, ""))
	}
	switch format {
	case "table":
		return table(rows)
	case "json":
		return encode(rows)
	case "markdown":
		return strings.Join(pages, "\n"), nil
	}
	return "", unknownFormat(format, ReferenceFormats())
}

func table(rows []Row) (string, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, "PROVIDER\tKEY\tON\tKINDS\tTYPE\tDEFAULT\tSUPPORT"); err != nil {
		return "", err
	}
	for _, r := range rows {
		cells := []string{r.Provider, r.Key, string(r.On), strings.Join(r.Kinds, ","), r.Type, short(r.Default), string(r.Support)}
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

func short(text string) string {
	if text == "" {
		return "-"
	}
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-3]) + "..."
	}
	return text
}
