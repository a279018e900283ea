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
	case len(elsewhere) > 0:
		return ""
	case !s.prefixed(key):
		if near := s.sameName(key); near != "" {
			return "is not known, so it has no effect; did you mean " + near + "?"
		}
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
