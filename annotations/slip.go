package annotations

import (
	"slices"
	"strings"
)

// spelling is a key in a form in which case, separators, the order of words and other
// words for the same thing make no difference.
type spelling struct {
	domain string // before the slash, without separators
	name   string // after the slash, without separators
	words  string // the words of the name, sorted
	bare   string // the name without its first word, which names the cloud
	whole  string // all letters, as they are
}

const (
	// longName is the length from which a name is distinctive: it may have a second slip, and
	// is recognized under any domain.
	longName = 10
	// slipsInDomain is how many slips a domain may have if the name is right.
	slipsInDomain = 5
)

// spellingOf returns the spelling of a key.
func spellingOf(key string) spelling {
	key = strings.ToLower(key)
	domain, name, found := strings.Cut(key, "/")
	if !found {
		domain, name = "", domain
	}
	words := plainWords(name)
	s := spelling{domain: strings.Join(wordsOf(domain), ""), name: strings.Join(words, ""), whole: strings.Join(wordsOf(key), "")}
	if len(words) > 2 {
		s.bare = strings.Join(words[1:], "")
	}
	slices.Sort(words)
	s.words = strings.Join(words, "-")
	return s
}

// plainWords splits a name into words and writes each in one way.
func plainWords(name string) []string {
	var out []string
	for _, word := range wordsOf(name) {
		last := len(out) - 1
		switch {
		case word == "lb":
			out = append(out, "loadbalancer")
		case word == "private":
			out = append(out, "internal")
		case word == "balancer" && last >= 0 && out[last] == "load":
			out[last] = "loadbalancer"
		default:
			out = append(out, word)
		}
	}
	return out
}

// distant is the distance of keys that have nothing to do with each other.
const distant = 100

// distance returns how far a written key is from a declared one. Domains are the domains of
// declared keys: a name under a wrong one of them is a slip.
func (k spelling) distance(declared spelling, domains []string) int {
	most := 1
	if len(declared.name) >= longName {
		most = 2
	}
	// A key whose slash is missing or misplaced counts as a whole.
	if near := min(editDistance(k.whole, declared.whole, most), editDistance(k.domain+k.name, declared.domain+declared.name, most)); near <= most {
		return near
	}
	named := k.isNamedLike(declared)
	switch {
	case k.domain == "" && len(declared.name) >= longName && editDistance(k.name, declared.name, most) <= most:
	case !named:
		return distant
	case k.domain == "", k.domain == declared.domain, slices.Contains(domains, k.domain):
	case len(declared.name) >= longName && editDistance(k.domain, declared.domain, slipsInDomain) <= slipsInDomain:
	default:
		return distant
	}
	return most + 1
}

// isNamedLike reports whether two keys have the same name, but for the order of its words or
// the word for the cloud.
func (k spelling) isNamedLike(declared spelling) bool {
	switch {
	case k.name == declared.name, k.words == declared.words && strings.Contains(k.words, "-"):
		return true
	case declared.bare == "":
		return false
	}
	return k.name == declared.bare || len(declared.bare) >= longName && editDistance(k.name, declared.bare, 1) <= 1
}

// domains lists the domains of the keys of this and the other clouds, and of similar keys,
// as spellings have them.
func (s *Set) domains() []string {
	out := []string{"servicekubernetesio", "servicealphakubernetesio", "kubernetesio"}
	for _, set := range append([]*Set{s}, s.beside.Sets...) {
		for _, d := range set.declarations {
			if d.byUser() {
				out = append(out, d.spelling().domain)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byUser reports whether users write the key on Services.
func (d *declaration) byUser() bool {
	return d.onService() && !d.foreign && d.key.Writer != ByController
}

// spelledLike returns the spelling of the declared key to compare with a written one.
func (d *declaration) spelledLike(key string) spelling {
	if d.perPort() {
		return spellingOf(d.filled(key))
	}
	return d.spelling()
}

// slip returns the declared key that a written one differs from by a slip, or "": a letter
// or two, case, separators, the order of words, another word for the same thing, and a
// domain that is missing or belongs to other keys of load balancers. Keys of other
// controllers are not guessed at.
func (s *Set) slip(key, kind string) string {
	if s.ReadElsewhere(key) {
		return ""
	}
	best, bestCost := "", 2*distant
	written := spellingOf(key)
	for _, set := range s.sets() {
		for _, d := range set.declarations {
			if !d.byUser() {
				continue
			}
			cost := 2 * written.distance(d.spelledLike(key), s.wellKnown())
			if d.form(kind) < 0 {
				cost++
			}
			if cost < bestCost {
				best, bestCost = d.filled(key), cost
			}
		}
	}
	return best
}

// ReadElsewhere reports whether a set of another cloud, or this program, declares the key.
func (s *Set) ReadElsewhere(key string) bool {
	return slices.Contains(s.beside.Known, key) || slices.ContainsFunc(s.beside.Sets, func(o *Set) bool { return o.Knows(key) })
}

// MayMean lists the declared annotations that decide whether the internet is admitted, and
// that the user may have meant by a key that no declaration is for. It is more generous than
// hints: the domain of a distinctive name may be any. They are sorted by distance.
func (s *Set) MayMean(key, kind string) []string {
	return s.mayMean(key, kind, (*declaration).decides)
}

// mayMean is MayMean for the annotations that a condition selects.
func (s *Set) mayMean(key, kind string, selects func(*declaration) bool) []string {
	if s.Knows(key) {
		return nil
	}
	if !slices.ContainsFunc(s.declarations, selects) {
		return nil
	}
	var out []string
	written, hint := spellingOf(key), ""
	if slices.ContainsFunc(s.declarations, func(d *declaration) bool { return selects(d) && s.isNear(key, d) }) {
		hint = s.hintFor(key, kind)
	}
	for _, d := range s.declarations {
		if !selects(d) {
			continue
		}
		meant := d.spelling()
		named := written.name == meant.name || written.words == meant.words
		if hint == d.key.Name || named && len(meant.name) >= longName || written.distance(meant, s.wellKnown()) < distant {
			out = append(out, d.key.Name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return editDistance(key, a, distant) - editDistance(key, b, distant) })
	return out
}

// decides reports whether the annotation decides that the internet is admitted.
func (d *declaration) decides() bool {
	return d.key.Exposes == ToInternet && d.key.On == ServiceAnnotation
}

// isNear reports whether a hint may propose the declared key for a written one. It is much
// cheaper than the hint, which is compared with all declarations of all clouds.
func (s *Set) isNear(key string, d *declaration) bool {
	part := strings.TrimPrefix(d.key.Name, s.prefix(key))
	limit := distanceLimit(part)
	return editDistance(key, d.key.Name, limit) <= limit || wordsMissing(strings.TrimPrefix(key, s.prefix(key)), part) >= 0
}

// hintFor returns the key that hints propose.
func (s *Set) hintFor(key, kind string) string {
	if s.prefixed(key) || s.shared(key) {
		return s.nearest(key, kind)
	}
	return s.slip(key, kind)
}
