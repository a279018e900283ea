package annotations

import (
	"slices"
	"strings"
)

// Knows reports whether the key is declared, for any place or kind. Only an
// undeclared key can be misspelt.
func (s *Set) Knows(key string) bool {
	return len(s.exact[key]) > 0 || slices.ContainsFunc(s.patterns, func(d *declaration) bool { return d.matches(key) })
}

// Works reports whether this version acts upon an annotation for a kind.
func (s *Set) Works(key, kind string) bool {
	return slices.ContainsFunc(s.find(key), func(d *declaration) bool {
		i := d.form(kind)
		return i >= 0 && !d.foreign && d.key.On == ServiceAnnotation && d.key.Forms[i].Support == Works
	})
}

// Spellings lists everything that means the same as the key: the key itself, and
// the names and aliases of all declarations that it is a use of, sorted. Nothing
// if the key is not declared.
func (s *Set) Spellings(key string) []string {
	var out []string
	for _, d := range s.find(key) {
		out = append(append(append(out, key), d.key.Name), d.key.Aliases...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AllSpellings lists the names and aliases of all declarations that are read on
// Services, sorted; marks such as <PORT> are left in.
func (s *Set) AllSpellings() []string {
	var out []string
	for _, d := range s.declarations {
		if d.onService() {
			out = append(append(out, d.key.Name), d.key.Aliases...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Example is a typical value of a declared key; empty if it has none.
func (s *Set) Example(key string) string {
	for _, d := range s.find(key) {
		if d.key.Example != "" {
			return d.key.Example
		}
	}
	return ""
}

// Spelled is one declaration by the texts that are a use of it.
type Spelled struct {
	Names []string // name and aliases; marks such as <PORT> are left in
	// Whole are those names that are compared as they are, Expressions are regular expressions for
	// the others.
	Whole, Expressions []string
}

// Recognise returns what recognises the declarations that are read on Services.
func (s *Set) Recognise() []Spelled {
	unnamed := strings.NewReplacer("(?P<port>", "(?:", "(?P<protocol>", "(?:")
	var out []Spelled
	for _, d := range s.declarations {
		if !d.onService() {
			continue
		}
		one := Spelled{Names: append([]string{d.key.Name}, d.key.Aliases...)}
		for _, m := range d.matchers {
			if m.re == nil {
				one.Whole = append(one.Whole, m.text)
			} else {
				one.Expressions = append(one.Expressions, unnamed.Replace(m.re.String()))
			}
		}
		out = append(out, one)
	}
	return out
}
