package vap

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// matchAny returns an expression that is true if a text, itself an expression, matches one of the
// patterns, in which * stands for any text.
func matchAny(text string, patterns []string) string {
	if slices.Contains(patterns, "*") {
		return "true"
	}
	whole, wild := []string{}, []string{}
	for _, p := range patterns {
		if strings.Contains(p, "*") {
			wild = append(wild, expressionOf(p))
		} else {
			whole = append(whole, p)
		}
	}
	return anyOf(text, whole, wild)
}

// expressionOf returns a pattern as a regular expression.
func expressionOf(pattern string) string {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return "^(?s:" + strings.Join(parts, ".*") + ")$"
}

// anyOf returns an expression that is true if a text is one of the names, or matches one of the
// regular expressions. A list of names costs the API server much less than an expression.
func anyOf(text string, names, expressions []string) string {
	var out []string
	if len(names) > 0 {
		out = append(out, text+" in "+quoteList(names))
	}
	if len(expressions) > 0 {
		out = append(out, text+".matches("+strconv.Quote(strings.Join(expressions, "|"))+")")
	}
	return joinOr(out)
}

// quoteList returns a list of texts.
func quoteList(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, t := range texts {
		quoted = append(quoted, strconv.Quote(t))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// joinOr joins alternatives; without one the expression is false.
func joinOr(alternatives []string) string { return joinWith(alternatives, " || ", "false") }

// joinAnd joins conditions; without one the expression is true.
func joinAnd(conditions []string) string { return joinWith(conditions, " && ", "true") }

func joinWith(parts []string, with, none string) string {
	switch len(parts) {
	case 0:
		return none
	case 1:
		return parts[0]
	}
	return "(" + strings.Join(parts, ")"+with+"(") + ")"
}
