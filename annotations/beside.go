package annotations

import (
	"slices"
	"strings"
	"sync"
)

// Beside holds knowledge besides the keys of one cloud. Without it the keys of other
// clouds are ignored without a warning, as the official controllers do.
type Beside struct {
	// Sets are those of the other clouds.
	Sets []*Set
	// Any says that the cloud may be any of those: what one of them reads is in order.
	Any bool
	// Shared are prefixes that belong to load balancers in general: an undeclared key
	// under one of them is misspelt, or meant for another program.
	Shared []string
	// Known are keys under Shared that are read by programs without a Set.
	Known []string
	// Kinds holds, for a kind of load balancer, what a Service requests it with; a kind
	// without an entry needs no mention.
	Kinds map[string]string
	// Elsewhere are prefixes of clouds and programs that there is no Set for, by
	// their name.
	Elsewhere map[string][]string
}

// Beside returns a copy of the set that also speaks of keys of others.
func (s *Set) Beside(b Beside) *Set {
	out := *s
	out.beside = b
	out.wellKnown = sync.OnceValue(out.domains)
	return &out
}

// otherCloud names the cloud or program that an annotation is for, or "".
func (s *Set) otherCloud(key string) string {
	for _, other := range s.others() {
		for _, d := range other.find(key) {
			switch {
			case d.foreign:
				return ""
			case d.key.On == ServiceAnnotation:
				return other.provider
			}
		}
	}
	for _, other := range s.others() {
		if other.prefixed(key) {
			return other.provider
		}
	}
	for _, name := range sortedKeys(s.beside.Elsewhere) {
		if hasPrefix(key, s.beside.Elsewhere[name]) {
			return name
		}
	}
	return ""
}

// others are the sets of clouds that this one is not.
func (s *Set) others() []*Set {
	if s.beside.Any {
		return nil
	}
	return s.beside.Sets
}

// sets returns this set and the sets that it may stand for.
func (s *Set) sets() []*Set {
	if s.beside.Any {
		return append([]*Set{s}, s.beside.Sets...)
	}
	return []*Set{s}
}

// shared reports whether an annotation appears to be for load balancers.
func (s *Set) shared(key string) bool {
	return hasPrefix(key, s.beside.Shared) && !slices.Contains(s.beside.Known, key)
}

// asked adds to kinds by what a Service asks for each.
func (s *Set) asked(kinds []string) []string {
	out := slices.Clone(kinds)
	for i, kind := range out {
		if by := s.beside.Kinds[kind]; by != "" {
			out[i] += " (" + by + ")"
		}
	}
	return out
}

func hasPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// Claims counts the annotations that only this cloud would read: its own keys, and
// those under its prefixes.
func (s *Set) Claims(src Source, others []*Set) int {
	n := 0
	for key := range src.Annotations {
		if s.mine(key) && !slices.ContainsFunc(others, func(o *Set) bool { return o != s && o.mine(key) }) {
			n++
		}
	}
	return n
}

// mine reports whether the annotation is one of the cloud's, spelt correctly or not.
func (s *Set) mine(key string) bool {
	return s.prefixed(key) || slices.ContainsFunc(s.find(key), func(d *declaration) bool {
		return !d.foreign && d.key.On == ServiceAnnotation
	})
}
