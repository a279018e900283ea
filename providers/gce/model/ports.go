package model

import (
	"strconv"
	"strings"
)

// portsIn lists the ports of "80" or "80-90"; a text that is neither is itself.
func portsIn(text string) []string {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		return []string{text}
	}
	first, err := strconv.ParseUint(from, 10, 16)
	last, err2 := strconv.ParseUint(to, 10, 16)
	if err != nil || err2 != nil || last < first {
		return []string{text}
	}
	var out []string
	for p := first; p <= last; p++ {
		out = append(out, strconv.FormatUint(p, 10))
	}
	return out
}
