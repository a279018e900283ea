package plan

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

const ellipsis = "…"

// textWidth returns the number of columns of a text on a terminal.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns the number of columns of a character: two if it is wide, such as in
// Chinese, none if it combines with the previous one. Source: Unicode Standard Annex
// #11, East Asian Width.
func runeWidth(r rune) int {
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

// cutHead returns the longest beginning of a text within the width.
func cutHead(runes []rune, width int) string {
	used := 0
	for i, r := range runes {
		if used += runeWidth(r); used > width {
			return string(runes[:i])
		}
	}
	return string(runes)
}

// cutTail returns the longest end of a text within the width.
func cutTail(runes []rune, width int) string {
	used := 0
	for i := len(runes) - 1; i >= 0; i-- {
		if used += runeWidth(runes[i]); used > width {
			return string(runes[i+1:])
		}
	}
	return string(runes)
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-textWidth(s)))
}

// replaceUnprintable replaces unprintable characters. Names and reasons can contain
// text of a cloud or a manifest, which must not control a terminal.
func replaceUnprintable(s string) string {
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

// fitWidth cuts a value of several words in the middle. A single word is a name, an id or a path,
// with which readers search: it is never cut.
func fitWidth(s string, width int) string {
	switch {
	case textWidth(s) <= width || !strings.Contains(s, " "):
		return s
	case width <= 0:
		return ""
	case width == 1:
		return ellipsis
	}
	runes := []rune(s)
	half := width / 2
	return cutHead(runes, half) + ellipsis + cutTail(runes, width-half-1)
}

// cutAll cuts values to the width. Different values stay different: if the cut in the
// middle hides the difference, the surroundings of the first difference are shown.
func cutAll(values []string, width int) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, fitWidth(v, width))
	}
	if len(values) != 2 || values[0] == values[1] || out[0] != out[1] {
		return out
	}
	at := firstDifference(values[0], values[1])
	return []string{cutAround(values[0], at, width), cutAround(values[1], at, width)}
}

func firstDifference(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// cutAround returns the part of a text that surrounds a position.
func cutAround(s string, at, width int) string {
	runes := []rune(s)
	const before = 4 // characters shown before the position
	start := min(max(0, at-before), len(runes))
	rest := string(runes[start:])
	if start > 0 {
		rest = ellipsis + rest
	}
	if textWidth(rest) <= width {
		return rest
	}
	return cutHead([]rune(rest), max(0, width-1)) + ellipsis
}

// wrapText breaks text between words. A word that is longer than the width, such as a name, is
// never cut and has a line of its own.
func wrapText(text string, width int) []string {
	var lines []string
	line := ""
	for i, word := range strings.Split(replaceUnprintable(text), " ") {
		switch {
		case i == 0:
			line = word
		case textWidth(line)+1+textWidth(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
