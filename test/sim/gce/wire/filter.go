package wire

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Filter is a parsed filter expression; nil matches everything. It is the language
// that the controllers use: "name eq REGEX" or "name ne REGEX", whose expression must
// match the whole value; several stand in parentheses each and must all hold.
// Source: Compute Engine API reference, parameter filter of every list call.
type Filter func(Object) bool

// Match reports whether an object passes.
func (f Filter) Match(o Object) bool { return f == nil || f(o) }

// ParseFilter reads a filter; empty gives nil.
func ParseFilter(text string) (Filter, error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return nil, nil
	}
	var all []Filter
	for rest != "" {
		term := rest
		if strings.HasPrefix(rest, "(") {
			end := closingParen(rest)
			if end < 0 {
				return nil, Invalid("filter", text, "Invalid list filter expression: missing ')'.")
			}
			term, rest = rest[1:end], strings.TrimSpace(rest[end+1:])
		} else {
			rest = ""
		}
		f, err := parseComparison(term)
		if err != nil {
			return nil, Invalid("filter", text, "Invalid list filter expression: %s.", err)
		}
		all = append(all, f)
	}
	return func(o Object) bool {
		for _, f := range all {
			if !f(o) {
				return false
			}
		}
		return true
	}, nil
}

// closingParen returns the index of the parenthesis that closes the one at the start of
// text, or -1.
func closingParen(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func parseComparison(term string) (Filter, error) {
	words := strings.SplitN(strings.TrimSpace(term), " ", 3)
	if len(words) < 3 || (words[1] != "eq" && words[1] != "ne") {
		return nil, fmt.Errorf("want FIELD eq EXPRESSION or FIELD ne EXPRESSION, got %q", term)
	}
	// RE2 as in the API, matching the whole value.
	re, err := regexp.Compile("^(?:" + strings.Trim(strings.TrimSpace(words[2]), `"'`) + ")$")
	if err != nil {
		return nil, err
	}
	path := strings.Split(words[0], ".")
	return func(o Object) bool { return anyValue(o, path, re.MatchString) == (words[1] == "eq") }, nil
}

// anyValue reports whether a value at the path, of which lists have many, passes.
func anyValue(v any, path []string, ok func(string) bool) bool {
	switch v := v.(type) {
	case Object:
		return len(path) > 0 && v[path[0]] != nil && anyValue(v[path[0]], path[1:], ok)
	case []any:
		for _, e := range v {
			if anyValue(e, path, ok) {
				return true
			}
		}
		return false
	case string:
		return len(path) == 0 && ok(v)
	case bool:
		return len(path) == 0 && ok(strconv.FormatBool(v))
	case float64:
		return len(path) == 0 && ok(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return false
}
