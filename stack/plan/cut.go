package plan

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

const ellipsis = "…"

// length returns the number of columns of a text on a terminal.
func length(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// columns returns the number of columns of a character: two if it is wide, such as in
// Chinese, none if it combines with the previous one.
// Source: Unicode Standard Annex #11, East Asian Width.
func columns(r rune) int {
	switch {
	case r < unicode.MaxLatin1:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// head returns the longest beginning of a text within the width.
func head(runes []rune, width int) string {
	used := 0
	for i, r := range runes {
		if used += columns(r); used > width {
			return string(runes[:i])
		}
	}
	return string(runes)
}

// tail returns the longest end of a text within the width.
func tail(runes []rune, width int) string {
	used := 0
	for i := len(runes) - 1; i >= 0; i-- {
		if used += columns(runes[i]); used > width {
			return string(runes[i+1:])
		}
	}
	return string(runes)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-length(s)))
}

// clean replaces unprintable characters. Names and reasons can contain text of a cloud or
// a manifest, which must not control a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		default:
			return r
		}
	}, s)
}

// fit cuts text in the middle: names in a cloud differ at both ends, the
// cluster at the beginning and a hash at the end.
func fit(s string, width int) string {
	switch {
	case length(s) <= width:
		return s
	case width <= 0:
		return ""
	case width == 1:
		return ellipsis
	}
	runes := []rune(s)
	half := width / 2
	return head(runes, half) + ellipsis + tail(runes, width-half-1)
}

// cutAll cuts values to the width. Different values stay different: if the cut in the
// middle hides the difference, the surroundings of the first difference are shown.
func cutAll(values []string, width int) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, fit(v, width))
	}
	if len(values) != 2 || values[0] == values[1] || out[0] != out[1] {
		return out
	}
	at := firstDifference(values[0], values[1])
	return []string{around(values[0], at, width), around(values[1], at, width)}
}

func firstDifference(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// around returns the part of a text that surrounds a position.
func around(s string, at, width int) string {
	runes := []rune(s)
	const before = 4 // characters shown before the position
	start := min(max(0, at-before), len(runes))
	rest := string(runes[start:])
	if start > 0 {
		rest = ellipsis + rest
	}
	if length(rest) <= width {
		return rest
	}
	return head([]rune(rest), max(0, width-1)) + ellipsis
}

// wrap breaks text between words. A word that is longer than limit is cut in the
// middle.
func wrap(text string, width, limit int) []string {
	var lines []string
	line := ""
	for i, word := range strings.Split(clean(text), " ") {
		if limit < unlimited {
			word = fit(word, width)
		}
		switch {
		case i == 0:
			line = word
		case length(line)+1+length(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
