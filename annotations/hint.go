package annotations

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// nearest returns the declared Service key that a misspelt one most likely
// means, or "". A few wrong characters beat a missing word; keys that work on
// the kind win a tie.
func (s *Set) nearest(key, kind string) string {
	if near := s.slip(key, kind); near != "" {
		return near
	}
	const far = 1 << 20
	best, bestCost := "", far
	prefix := s.prefix(key)
	for _, set := range s.sets() {
		for _, d := range set.declarations {
			if d.foreign || !d.onService() {
				continue
			}
			name := d.filled(key)
			part := strings.TrimPrefix(name, prefix)
			limit := distanceLimit(part)
			cost := 4 * editDistance(key, name, limit)
			if cost > 4*limit {
				missing := wordsMissing(strings.TrimPrefix(key, prefix), part)
				if missing < 0 {
					continue
				}
				cost = far/2 + 4*missing
			}
			if d.form(kind) < 0 {
				cost++
			}
			if cost < bestCost {
				best, bestCost = name, cost
			}
		}
	}
	return best
}

// filled is the declared name with the marks replaced by the last number and the
// last capital word of the misspelt key, so that per-port keys compare well.
func (d *declaration) filled(key string) string {
	if !d.perPort() {
		return d.key.Name
	}
	name := d.key.Name
	if number := lastRun(key, func(r rune) bool { return r >= '0' && r <= '9' }); number != "" {
		name = fillPort(name, number)
	}
	if word := lastRun(key, func(r rune) bool { return r >= 'A' && r <= 'Z' || r == '_' }); word != "" {
		name = strings.Replace(name, protocolMark, word, 1)
	}
	return name
}

// lastRun is the last stretch of characters for which the test holds.
func lastRun(text string, holds func(rune) bool) string {
	runs := strings.FieldsFunc(text, func(r rune) bool { return !holds(r) })
	if len(runs) == 0 {
		return ""
	}
	return runs[len(runs)-1]
}

// distanceLimit is one edit per five characters of the part that tells keys
// apart, at least one and at most four: more would propose unrelated keys.
func distanceLimit(part string) int {
	return min(4, max(1, len(part)/5))
}

// editDistance counts inserted, deleted, changed and swapped neighbouring
// characters. It gives up with limit+1 as soon as the limit is passed.
func editDistance(a, b string, limit int) int {
	if isASCII(a) && isASCII(b) {
		if max(len(a)-len(b), len(b)-len(a)) > limit || differTooMuch(a, b, limit) {
			return limit + 1
		}
	}
	x, y := cutCommon([]rune(a), []rune(b))
	if max(len(x)-len(y), len(y)-len(x)) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		if slices.Min(row) > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// differTooMuch reports whether two texts have so many different characters that they are
// farther from each other than the limit, whatever their order: one edit makes up for two.
func differTooMuch(a, b string, limit int) bool {
	var count [utf8.RuneSelf]int16
	for i := range len(a) {
		count[a[i]]++
	}
	for i := range len(b) {
		count[b[i]]--
	}
	differ := 0
	for _, n := range count {
		differ += max(int(n), -int(n))
	}
	return differ > 2*limit
}

// cutCommon removes the common start and end of two texts. Their distance stays the same.
func cutCommon(x, y []rune) (restX, restY []rune) {
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return x, y
}

// wordsMissing counts the words that one text has more than the other, if the
// other's words, two at least, are all among them in the same order. It is -1 if
// the texts are not related like that or by more than three words.
func wordsMissing(a, b string) int {
	const fewest, most = 2, 3
	long, short := wordsOf(a), wordsOf(b)
	if len(long) < len(short) {
		long, short = short, long
	}
	missing := len(long) - len(short)
	if len(short) < fewest || missing > most {
		return -1
	}
	rest := short
	for _, word := range long {
		if len(rest) > 0 && sameWord(word, rest[0]) {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		return -1
	}
	return missing
}

// sameWord also takes "cert" for "certificate".
func sameWord(a, b string) bool {
	const shortestStem = 4
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || len(b) >= shortestStem && strings.HasPrefix(a, b)
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == '.' || r == '_' || r == '/' })
}
