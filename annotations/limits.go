package annotations

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Limiting declares that a new key limits the clients of the load balancer, except for values that
// admit all. A Service on which such a limit has no effect is refused: it would be open. It is
// part of the declaration: the key must not be in a Set yet.
func Limiting[T any](k *Key[T], open ...string) *Key[T] {
	return LimitingUnless(k, func(raw string) bool {
		return slices.ContainsFunc(open, func(word string) bool { return strings.EqualFold(strings.TrimSpace(raw), word) })
	})
}

// LimitingUnless is Limiting with a function that reports whether a value admits all clients.
func LimitingUnless[T any](k *Key[T], open func(raw string) bool) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Type.facts.open = open
	}
	return k
}

// limitsClients reports whether a value of the annotation limits the clients.
func (d *declaration) limitsClients(raw string) bool {
	return d.key.On == ServiceAnnotation && slices.ContainsFunc(d.key.Forms, func(f Form[any]) bool {
		return f.Type.facts.open != nil && !f.Type.facts.open(raw) && !(f.Empty == EmptyAbsent && f.isEmpty(raw))
	})
}

// Limits reports whether a value of a declared key limits the clients of a load balancer.
func (s *Set) Limits(key, raw string) bool {
	return slices.ContainsFunc(s.find(key), func(d *declaration) bool { return d.limitsClients(raw) })
}

// limitWithoutEffect returns the problem of a key that limits the clients, and that is not read for
// the kind as it is written and where it stands; without a message: there is none.
func (s *Set) limitWithoutEffect(key, raw, kind string, place Place, src Source) Problem {
	found := s.find(key)
	limits := slices.ContainsFunc(found, func(d *declaration) bool { return d.limitsClients(raw) })
	reads := slices.ContainsFunc(found, func(d *declaration) bool { return d.foreign || d.key.On == place && d.form(kind) >= 0 })
	switch {
	case len(found) == 0 && place == ServiceAnnotation:
		return s.misspeltLimit(key, raw, kind, src)
	case !limits || reads:
		return Problem{}
	case place == ServiceLabel && src.has(s.Spellings(key)):
		return Problem{}
	case place == ServiceLabel:
		return lostLimit(raw, "limits the clients and has no effect as a label", "an annotation of this name, or no such label")
	}
	only := joinAnd(s.asked(kindsOf(found)))
	return lostLimit(raw, "limits the clients and has no effect on "+kind+", only on "+only, s.otherLimits(kind, "no such annotation, or a load balancer of kind "+only))
}

// lostLimit returns the problem of a limit of the clients that has no effect.
func lostLimit(raw, why, legal string) Problem {
	return Problem{Code: CodeUnlimited, Value: raw, Severity: Error, Message: why + ", so clients that it excludes would be admitted", Legal: legal}
}

// addLimit adds the problem of a limit of the clients that has no effect.
func (r *parsing) addLimit(of Origin, why, legal string) {
	p := lostLimit(of.Raw, why, legal)
	p.Key = of.Key
	r.problems = append(r.problems, p)
}

// otherLimits lists the keys that limit the clients of a kind, after other legal states.
func (s *Set) otherLimits(kind, legal string) string {
	var keys []string
	for _, d := range s.declarations {
		if i := d.form(kind); i >= 0 && d.key.On == ServiceAnnotation && d.key.Forms[i].Type.facts.open != nil && d.key.Forms[i].Support == Works {
			keys = append(keys, d.key.Name)
		}
	}
	if len(keys) == 0 {
		return legal
	}
	return legal + "; on " + kind + " clients are limited by " + oneOf(keys)
}

// misspeltLimit returns the problem of an undeclared key that the user may have meant as one that
// limits the clients; without a message: there is none.
func (s *Set) misspeltLimit(key, raw, kind string, src Source) Problem {
	if s.ReadElsewhere(key) {
		return s.foreignLimit(key, raw, kind, src)
	}
	for _, meant := range s.mayMean(key, kind, func(d *declaration) bool { return d.limitsClients(raw) }) {
		if src.has(s.Spellings(meant)) || meant == corev1.AnnotationLoadBalancerSourceRangesKey && src.Fields[FieldRanges] != "" {
			continue
		}
		return lostLimit(raw, "is not known, and looks like "+meant+", which limits the clients", "no such annotation, or "+meant)
	}
	return Problem{}
}

// foreignLimit returns the problem of a key by which another cloud limits the clients, on a Service
// without a limit that this cloud reads; without a message: there is none.
func (s *Set) foreignLimit(key, raw, kind string, src Source) Problem {
	of := slices.IndexFunc(s.others(), func(other *Set) bool { return other.Limits(key, raw) })
	if of < 0 || s.isLimited(kind, src) {
		return Problem{}
	}
	return lostLimit(raw, "limits the clients on "+s.others()[of].provider+" and has no effect on "+s.provider, s.otherLimits(kind, "no such annotation"))
}

// isLimited reports whether a Service has a limit of the clients that the kind reads.
func (s *Set) isLimited(kind string, src Source) bool {
	if src.Fields[FieldRanges] != "" {
		return true
	}
	for key, raw := range src.Annotations {
		if s.Works(key, kind) && s.Limits(key, raw) {
			return true
		}
	}
	return false
}

// has reports whether one of the annotations is set.
func (src Source) has(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { _, said := src.Annotations[key]; return said })
}
