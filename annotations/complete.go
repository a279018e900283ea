package annotations

import (
	"slices"
	"strings"
)

// Completions returns what a shell offers for KEY=VALUE with the annotations that users write on
// Services: the keys, each with the legal values as its description, and after a key its values.
// A key whose values cannot be listed offers its example. A key with a port or protocol in it is
// offered up to there.
func Completions(typed string, sets ...*Set) []string {
	key, _, hasKey := strings.Cut(typed, "=")
	var out []string
	for _, d := range listWritable(sets) {
		switch {
		case !hasKey:
			out = append(out, d.stem("=")+"\t"+d.legal())
		case d.matches(key) && !d.key.Secret:
			for _, value := range d.choices() {
				out = append(out, key+"="+value)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CompletionsOfKeys returns what a shell offers for the key of an annotation.
func CompletionsOfKeys(sets ...*Set) []string {
	var out []string
	for _, d := range listWritable(sets) {
		out = append(out, d.stem(""))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listWritable lists the declarations of annotations of Services that have an effect and that users
// write.
func listWritable(sets []*Set) []*declaration {
	var out []*declaration
	for _, s := range sets {
		for _, d := range s.declarations {
			works := slices.ContainsFunc(d.key.Forms, func(f Form[any]) bool { return f.Support == Works && f.Type.parse != nil })
			if !d.foreign && d.key.On == ServiceAnnotation && d.key.Writer != ByController && works {
				out = append(out, d)
			}
		}
	}
	return out
}

// stem returns the name up to the mark of a port or protocol, or the whole name with an ending.
func (d *declaration) stem(ending string) string {
	if i := strings.IndexAny(d.key.Name, "<{"); i >= 0 {
		return d.key.Name[:i]
	}
	return d.key.Name + ending
}

// legal describes the legal values of the first form that works.
func (d *declaration) legal() string {
	i := slices.IndexFunc(d.key.Forms, func(f Form[any]) bool { return f.Support == Works })
	return d.key.Forms[i].Type.facts.Legal()
}

// choices lists the legal values of all forms that work; without any, the example.
func (d *declaration) choices() []string {
	var out []string
	for _, f := range d.key.Forms {
		if f.Support == Works {
			out = append(out, f.Type.facts.values...)
		}
	}
	if len(out) == 0 && d.key.Example != "" {
		out = append(out, d.key.Example)
	}
	return out
}
