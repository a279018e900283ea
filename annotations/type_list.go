package annotations

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// ListOptions change how a list is read.
type ListOptions struct {
	// Separator between items; "," if empty. " " means any run of blanks.
	Separator string
	// Raw keeps blanks around items and empty items, as plain splitting does.
	Raw bool
	// Unique drops repeated items after the first.
	Unique bool
	// AtLeast and AtMost bound the number of items; 0 means no bound.
	AtLeast, AtMost int
}

// ListOf is a comma separated list: items are trimmed, empty ones dropped, and
// the empty text is an empty list.
func ListOf[T comparable](item Type[T]) Type[[]T] {
	return ListWith(ListOptions{}, item)
}

// ListWith is ListOf with options.
func ListWith[T comparable](o ListOptions, item Type[T]) Type[[]T] {
	o.Separator = cmp.Or(o.Separator, ",")
	return Type[[]T]{
		facts: facts{
			name:   item.facts.name + " list",
			head:   listLegal(o, item.facts),
			values: item.facts.values,
			min:    item.facts.min,
			max:    item.facts.max,
		},
		parse: func(raw string, sc scope) ([]T, []string, error) { return parseList(o, item, raw, sc) },
	}
}

func listLegal(o ListOptions, item facts) string {
	legal := "a comma separated list"
	if o.Separator != "," {
		legal = "a list separated by " + quoteValue(o.Separator)
	}
	if strings.TrimSpace(o.Separator) == "" {
		legal = "a list separated by blanks"
	}
	switch {
	case o.AtLeast > 0 && o.AtMost > 0:
		legal += fmt.Sprintf(" of %d to %d items", o.AtLeast, o.AtMost)
	case o.AtLeast == 1:
		legal += " of at least one item"
	case o.AtLeast > 0:
		legal += fmt.Sprintf(" of at least %d items", o.AtLeast)
	case o.AtMost > 0:
		legal += fmt.Sprintf(" of at most %d items", o.AtMost)
	}
	return legal + ", each " + item.Legal()
}

func parseList[T comparable](o ListOptions, item Type[T], raw string, sc scope) ([]T, []string, error) {
	if item.parse == nil {
		return nil, nil, errors.New("has no item type")
	}
	out := []T{}
	var notes []string
	seen := map[T]bool{}
	for _, text := range splitList(o, raw) {
		value, more, err := item.parse(text, sc)
		if err != nil {
			return nil, nil, fmt.Errorf("has item %s, which %w", quoteValue(text), err)
		}
		notes = append(notes, more...)
		if !o.Unique || !seen[value] {
			out = append(out, value)
		}
		seen[value] = true
	}
	if len(out) < o.AtLeast {
		return nil, nil, fmt.Errorf("has %d items, fewer than %d", len(out), o.AtLeast)
	}
	if o.AtMost > 0 && len(out) > o.AtMost {
		return nil, nil, fmt.Errorf("has %d items, more than %d", len(out), o.AtMost)
	}
	return out, notes, nil
}

func splitList(o ListOptions, raw string) []string {
	if strings.TrimSpace(o.Separator) == "" {
		return strings.Fields(raw)
	}
	pieces := strings.Split(raw, o.Separator)
	if o.Raw {
		return pieces
	}
	var out []string
	for _, piece := range pieces {
		if piece = strings.TrimSpace(piece); piece != "" {
			out = append(out, piece)
		}
	}
	return out
}
