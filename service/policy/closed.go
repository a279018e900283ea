package policy

import "slices"

// Keys are the annotations and labels that a rule forbids, for a program that only compares texts.
type Keys struct {
	// Names are whole keys, Expressions are regular expressions.
	Names, Expressions []string
	// Both are regular expressions of keys with a pattern that the key must match as well.
	Both [][2]string
	// Except are keys that are never refused.
	Except []string
}

// Namespaces returns the lists of patterns that a served namespace must match, each of them.
func (p *Policy) Namespaces() [][]string { return [][]string{p.outside, p.file.AllowedNamespaces} }

// Rules returns the rules of the file.
func (p *Policy) Rules() []Rule { return slices.Clone(p.file.Rules) }

// Forbidden returns the keys that a rule forbids, in every spelling.
func (p *Policy) Forbidden(r Rule) Keys {
	out := Keys{Except: p.outputs}
	for _, d := range p.keys.Recognise() {
		for _, pattern := range r.ForbidAnnotations {
			uses := p.keys.Spellings(pattern)
			if slices.ContainsFunc(d.Names, func(name string) bool { return matchPattern(pattern, name) || slices.Contains(uses, name) }) {
				out.Names = append(out.Names, d.Whole...)
				out.Expressions = append(out.Expressions, d.Expressions...)
				break
			}
			for _, e := range d.Expressions {
				out.Both = append(out.Both, [2]string{e, pattern})
			}
		}
	}
	slices.Sort(out.Names)
	slices.Sort(out.Expressions)
	out.Names, out.Expressions = slices.Compact(out.Names), slices.Compact(out.Expressions)
	out.Both = slices.DeleteFunc(out.Both, func(b [2]string) bool { return slices.Contains(out.Expressions, b[0]) })
	slices.SortFunc(out.Both, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	out.Both = slices.Compact(out.Both)
	return out
}

// OfController lists the settings of the rule that need more than annotations and class of one
// Service, by their keys in the file.
func (r Rule) OfController() []string {
	var out []string
	if r.ForbidOpenNodes {
		out = append(out, "forbidOpenNodes")
	}
	if r.Kinds != nil {
		out = append(out, "kinds")
	}
	for _, l := range r.limits() {
		if l.most != nil {
			out = append(out, l.key)
		}
	}
	if r.Names != nil {
		out = append(out, "names")
	}
	return out
}
