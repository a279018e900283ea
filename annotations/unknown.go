package annotations

import (
	"slices"
	"strings"
)

// unknownKeys reports the keys on the Service that no form for this kind reads: keys
// for other kinds, keys in the wrong place, keys of other clouds, and undeclared
// keys.
func (s *Set) unknownKeys(kind string, src Source) Problems {
	var out Problems
	add := func(key, raw string, place Place) {
		p := s.limitWithoutEffect(key, raw, kind, place, src)
		if p.Message == "" {
			p = s.unknownKey(key, kind, place, len(out) < mostHints)
			p.Severity = Warning
		}
		if p.Message != "" {
			p.Key = key
			out = append(out, p)
		}
	}
	for _, key := range sortedKeys(src.Annotations) {
		add(key, src.Annotations[key], ServiceAnnotation)
	}
	for _, key := range sortedKeys(src.Labels) {
		add(key, src.Labels[key], ServiceLabel)
	}
	return out
}

// mostHints bounds the number of unknown keys for which a similar key is searched. Each
// search compares all declared keys, and so many keys are no spelling mistakes.
const mostHints = 50

// unknownKey returns the problem of one key; without a message if there is none.
func (s *Set) unknownKey(key, kind string, place Place, hint bool) Problem {
	var here, elsewhere []*declaration
	for _, d := range s.find(key) {
		switch {
		case d.foreign:
			return Problem{}
		case d.key.On == place && d.form(kind) >= 0:
			return Problem{}
		case d.key.On == place:
			here = append(here, d)
		default:
			elsewhere = append(elsewhere, d)
		}
	}
	switch {
	case len(here) > 0:
		return Problem{Code: CodeOtherKind, Message: "has no effect on " + kind + ", only on " + joinAnd(s.asked(kindsOf(here)))}
	case place == ServiceLabel:
		return misplacedLabel(elsewhere)
	case len(elsewhere) > 0 && (s.prefixed(key) || elsewhere[0].key.On == ServiceLabel):
		return Problem{Code: CodeOtherPlace, Message: "has no effect here, it is read as a " + string(elsewhere[0].key.On)}
	case len(elsewhere) > 0:
		return Problem{}
	}
	return s.undeclared(key, kind, hint)
}

// undeclared speaks of an annotation that no declaration of the cloud is for.
func (s *Set) undeclared(key, kind string, hint bool) Problem {
	unknown := func(of func(string, string) string) Problem {
		p := Problem{Code: CodeUnknown, Message: "is not known, so it has no effect"}
		if !hint {
			return p
		}
		if near := of(key, kind); near != "" {
			p.Message += "; did you mean " + near + "?"
		}
		return p
	}
	if s.beside.Any && slices.ContainsFunc(s.beside.Sets, func(o *Set) bool { return o.Knows(key) }) {
		return Problem{}
	}
	if s.prefixed(key) {
		return unknown(s.nearest)
	}
	if hint {
		if near := s.slip(key, kind); near != "" {
			return unknown(func(string, string) string { return near })
		}
	}
	if of := s.otherCloud(key); of != "" {
		return Problem{Code: CodeOtherCloud, Message: "is a key of " + of + " and has no effect on " + s.provider}
	}
	if s.shared(key) {
		return unknown(s.nearest)
	}
	return Problem{}
}

// misplacedLabel reports only labels that are declared as annotations: labels under a
// cloud's domain are common and mostly intended.
func misplacedLabel(elsewhere []*declaration) Problem {
	for _, d := range elsewhere {
		if d.key.On == ServiceAnnotation {
			return Problem{Code: CodeOtherPlace, Message: "has no effect as a label, it is read as a " + string(ServiceAnnotation)}
		}
	}
	return Problem{}
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

// joinAnd joins words: "a", "a and b", "a, b and c".
func joinAnd(words []string) string { return joinWords(words, " and ") }

// oneOf joins words: "a", "a or b", "a, b or c"; "nothing" if there are none.
func oneOf(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return joinWords(words, " or ")
}

func joinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + last + words[end]
}
