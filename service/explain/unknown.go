package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// unknown returns the error for a selector that matches nothing.
func (e Explanation) unknown(selector string) error {
	legal, noun := e.selectable(selector)
	text := ""
	if near := nearestSelector(selector, legal); near != "" {
		text = fmt.Sprintf("did you mean %s? ", near)
	}
	return fmt.Errorf("%q matches nothing: %s%s of the Service: %s", selector, text, noun, strings.Join(legal, ", "))
}

// nearestSelector returns the candidate that a selector most likely means, or "": a similar one, or one
// that contains its kind.
func nearestSelector(selector string, candidates []string) string {
	kind, field, _ := strings.Cut(selector, ".")
	if near := annotations.Nearest(kind, candidates); near != "" {
		return strings.TrimSuffix(near+"."+field, ".")
	}
	if near := annotations.Nearest(selector, candidates); near != "" {
		return near
	}
	for _, c := range candidates {
		if strings.Contains(c, kind) {
			return strings.TrimSuffix(c+"."+field, ".")
		}
	}
	return ""
}

// selectable returns the kinds of resources; or, of a selector that begins with a resource, the
// fields of that resource, or the names of its kind.
func (e Explanation) selectable(selector string) (legal []string, noun string) {
	noun = "kinds of resources"
	for _, r := range e.Resources {
		legal = append(legal, string(r.Key.Kind))
	}
	for _, r := range e.Resources {
		for _, name := range []string{r.Key.String(), string(r.Key.Kind)} {
			switch {
			case strings.HasPrefix(selector, name+"."):
				legal, noun = nil, "fields"
				for _, f := range r.Fields {
					legal = append(legal, name+"."+f.Name)
				}
				return legal, noun
			case strings.HasPrefix(selector, string(r.Key.Kind)+"/") && noun != "names":
				legal, noun = e.names(r.Key.Kind), "names"
			}
		}
	}
	slices.Sort(legal)
	return slices.Compact(legal), noun
}

func (e Explanation) names(kind stack.Kind) []string {
	var out []string
	for _, r := range e.Resources {
		if r.Key.Kind == kind {
			out = append(out, r.Key.String())
		}
	}
	return out
}
