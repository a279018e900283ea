package annotations

import (
	"slices"
	"strings"
)

// strays reports the keys on the Service that no form for this kind reads: keys
// for other kinds, keys in the wrong place, and keys nobody declared.
func (s *Set) strays(kind string, src Source) Problems {
	var out Problems
	add := func(key, message string) {
		out = append(out, Problem{Key: key, Message: message, Severity: Warning})
	}
	for _, key := range sortedKeys(src.Annotations) {
		if message := s.stray(key, kind, ServiceAnnotation); message != "" {
			add(key, message)
		}
	}
	for _, key := range sortedKeys(src.Labels) {
		if message := s.stray(key, kind, ServiceLabel); message != "" {
			add(key, message)
		}
	}
	return out
}

// stray returns what to say about one key, or "".
func (s *Set) stray(key, kind string, place Place) string {
	var here, elsewhere []*declaration
	for _, d := range s.find(key) {
		switch {
		case d.foreign:
			return ""
		case d.place == place && d.form(kind) >= 0:
			return ""
		case d.place == place:
			here = append(here, d)
		default:
			elsewhere = append(elsewhere, d)
		}
	}
	switch {
	case len(here) > 0:
		return "has no effect on " + kind + ", only on " + and(kindsOf(here))
	case place == ServiceLabel:
		return strayLabel(elsewhere)
	case len(elsewhere) > 0 && (s.prefixed(key) || elsewhere[0].place == ServiceLabel):
		return "has no effect here, it is read as a " + string(elsewhere[0].place)
	case len(elsewhere) > 0 || !s.prefixed(key):
		return ""
	}
	if near := s.nearest(key, kind); near != "" {
		return "is not known, so it has no effect; did you mean " + near + "?"
	}
	return "is not known, so it has no effect"
}

// strayLabel speaks only about labels that are annotations by declaration:
// labels under a cloud's domain are common and mostly nobody's mistake.
func strayLabel(elsewhere []*declaration) string {
	for _, d := range elsewhere {
		if d.place == ServiceAnnotation {
			return "has no effect as a label, it is read as a " + string(ServiceAnnotation)
		}
	}
	return ""
}

func (s *Set) prefixed(key string) bool { return s.prefix(key) != "" }

func (s *Set) prefix(key string) string {
	for _, prefix := range s.prefixes {
		if strings.HasPrefix(key, prefix) {
			return prefix
		}
	}
	return ""
}

// nearest returns the declared Service key that a misspelt one most likely
// means, or "". Keys that work on the kind win a tie.
func (s *Set) nearest(key, kind string) string {
	best, bestDistance, bestFits := "", 1<<30, false
	prefix := s.prefix(key)
	for _, d := range s.declarations {
		if d.foreign || !d.onService() {
			continue
		}
		limit := distanceLimit(strings.TrimPrefix(d.name, prefix))
		distance := editDistance(key, d.name, limit)
		fits := d.form(kind) >= 0
		if distance > limit || distance > bestDistance || (distance == bestDistance && (bestFits || !fits)) {
			continue
		}
		best, bestDistance, bestFits = d.name, distance, fits
	}
	return best
}

// distanceLimit is one edit per five characters of the part that tells keys
// apart, at least one and at most four: more would propose unrelated keys.
func distanceLimit(part string) int {
	return min(4, max(1, len(part)/5))
}

// editDistance counts inserted, deleted, changed and swapped neighbouring
// characters. It gives up with limit+1 as soon as the limit is passed.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
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

func kindsOf(ds []*declaration) []string {
	var out []string
	for _, d := range ds {
		named, _ := d.kinds()
		out = append(out, named...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// and joins words: "a", "a and b", "a, b and c".
func and(words []string) string { return join(words, " and ") }

// oneOf joins words: "a", "a or b", "a, b or c"; "nothing" if there are none.
func oneOf(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return join(words, " or ")
}

func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + last + words[end]
}
