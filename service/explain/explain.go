package explain

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Sources of inputs besides those of package annotations.
const (
	FromMetadata annotations.From = "metadata" // name, namespace or UID of the Service
	FromNodes    annotations.From = "nodes"    // the nodes that receive traffic
	FromPods     annotations.From = "pods"     // the pods that receive traffic
	FromCloud    annotations.From = "cloud"    // the existing load balancer
	FromSeveral  annotations.From = "several"  // annotations or fields that request the same
)

// Hints describe an input besides its effect.
type Hints struct {
	At     string             `json:"at,omitempty"`     // file:line:column
	Legal  string             `json:"legal,omitempty"`  // the legal values
	Change annotations.Change `json:"change,omitempty"` // what a change does to a live load balancer
}

// Input is one input of the desired stack.
type Input struct {
	Origin annotations.Origin
	Hints
	// Varied means that Rebuild replaces the value, because the input cannot be omitted.
	Varied bool
	// Combined inputs consist of others. They are the origin only of values for which none of
	// the others is, because two of them request the same.
	Combined bool
	// Rebuild returns the desired stack and the problems without the input. Errors are
	// about the build itself.
	Rebuild func() (*stack.Stack, annotations.Problems, error)
}

// Cause is an input on which a value depends.
type Cause struct {
	annotations.Origin
	Hints
	// Absent means that the resource is not desired without the input.
	Absent bool `json:"absent,omitempty"`
	// Without is the value of the field without the input. It is missing if the input cannot
	// be omitted, or with Absent.
	Without any `json:"without,omitempty"`
	// Compared means that Without holds a value, which may be null.
	Compared bool `json:"compared,omitempty"`
}

// Field is a field of a desired resource.
type Field struct {
	plan.FieldDoc
	// Causes is empty for a value that no input changes: a default, or a property that was
	// read from the cloud.
	Causes []Cause `json:"causes,omitempty"`
}

// Resource is a desired resource.
type Resource struct {
	Key    stack.Key `json:"key"`
	Causes []Cause   `json:"causes,omitempty"` // inputs without which it is not desired
	Named  []Cause   `json:"named,omitempty"`  // inputs without which it has another name
	Fields []Field   `json:"fields,omitempty"`
}

// Required is an input without which the Service is refused.
type Required struct {
	annotations.Origin
	Hints
	Text string `json:"text"` // the problem that the Service has without it
}

// Explanation lists the origins of a desired stack.
type Explanation struct {
	Resources []Resource `json:"resources"`
	Required  []Required `json:"required,omitempty"`
	Builds    int        `json:"-"` // how often the stack was built
}

// Explain builds a stack without each input and returns what depends on which. It builds once
// for each input.
func Explain(want *stack.Stack, inputs []Input) (Explanation, error) {
	var out Explanation
	for _, res := range want.Resources {
		out.Resources = append(out.Resources, describeResource(res))
	}
	byOrder := slices.Clone(inputs)
	slices.SortStableFunc(byOrder, func(a, b Input) int { return rankInput(a) - rankInput(b) })
	for _, in := range byOrder {
		other, problems, err := in.Rebuild()
		if err != nil {
			return Explanation{}, fmt.Errorf("build without %s: %w", in.Origin, err)
		}
		out.Builds++
		if problems.Errors() || other == nil {
			if !in.Varied && !in.Combined {
				out.Required = append(out.Required, Required{Origin: in.Origin, Hints: in.Hints, Text: firstError(problems)})
			}
			continue
		}
		out.compare(want, other, in)
	}
	return out, nil
}

// rankInput sorts combined inputs last.
func rankInput(in Input) int {
	if in.Combined {
		return 1
	}
	return 0
}

func firstError(problems annotations.Problems) string {
	for _, p := range problems {
		if p.Severity == annotations.Error {
			return p.String()
		}
	}
	return ""
}

func describeResource(res stack.Resource) Resource {
	out := Resource{Key: res.Key}
	for _, f := range plan.Describe(res).Fields {
		out.Fields = append(out.Fields, Field{FieldDoc: f})
	}
	return out
}

// compare adds the input to everything that differs in another stack.
func (e *Explanation) compare(want, other *stack.Stack, in Input) {
	pairs := pairResources(want, other)
	for i, res := range want.Resources {
		match, ok := pairs[i]
		if !ok {
			if in.Combined && len(e.Resources[i].Causes) > 0 {
				continue
			}
			e.Resources[i].Causes = append(e.Resources[i].Causes, Cause{Origin: in.Origin, Hints: in.Hints, Absent: true})
			continue
		}
		if match.Key != res.Key && (!in.Combined || len(e.Resources[i].Named) == 0) {
			e.Resources[i].Named = append(e.Resources[i].Named, Cause{Origin: in.Origin, Hints: in.Hints})
		}
		e.Resources[i].compare(res, match, in)
	}
}

func (r *Resource) compare(res, other stack.Resource, in Input) {
	values := map[string]any{}
	for _, f := range stack.Fields(other.Spec) {
		values[f.Name] = f.Value
	}
	shown := map[string]any{}
	for _, f := range plan.Describe(other).Fields {
		shown[f.Name] = f.Value
	}
	for _, f := range stack.Fields(res.Spec) {
		if f.Evidence || sameValue(f.Value, values[f.Name]) {
			continue
		}
		cause := Cause{Origin: in.Origin, Hints: in.Hints}
		if !in.Varied {
			cause.Without, cause.Compared = shown[f.Name], true
		}
		r.addCause(f.Name, cause, in.Combined)
	}
}

// sameValue reports whether two values of a field are equal. Empty maps and lists are as absent ones.
func sameValue(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if !va.IsValid() || !vb.IsValid() || va.Kind() != vb.Kind() || va.Kind() != reflect.Map && va.Kind() != reflect.Slice {
		return false
	}
	return va.Len() == 0 && vb.Len() == 0
}

// addCause adds a cause to a field, or with first only to a field that has none.
func (r *Resource) addCause(field string, c Cause, first bool) {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == field && (!first || len(f.Causes) == 0) {
			f.Causes = append(f.Causes, c)
		}
	}
}

// pairResources returns, by index in want, the resources of another stack that correspond to
// those of want: the ones with the same key. If as many resources of a kind are left in both, the
// input has changed their names, and they correspond in order.
func pairResources(want, other *stack.Stack) map[int]stack.Resource {
	out := map[int]stack.Resource{}
	left := map[stack.Kind][]int{}
	for i, res := range want.Resources {
		if match, ok := other.Get(res.Key); ok {
			out[i] = match
			continue
		}
		left[res.Key.Kind] = append(left[res.Key.Kind], i)
	}
	for kind, indexes := range left {
		var free []stack.Resource
		for _, res := range other.Of(kind) {
			if _, ok := want.Get(res.Key); !ok {
				free = append(free, res)
			}
		}
		if len(free) != len(indexes) {
			continue
		}
		for n, i := range indexes {
			out[i] = free[n]
		}
	}
	return out
}

// Select returns the part of an explanation that a selector names: KIND, KIND/NAME, KIND.FIELD
// or KIND/NAME.FIELD. An error lists what can be selected.
func (e Explanation) Select(selector string) (Explanation, error) {
	if selector == "" {
		return e, nil
	}
	out := Explanation{Builds: e.Builds}
	for _, r := range e.Resources {
		for _, name := range []string{r.Key.String(), string(r.Key.Kind)} {
			rest, ok := strings.CutPrefix(selector, name)
			if !ok {
				continue
			}
			if picked, ok := r.selectField(rest); ok {
				out.Resources = append(out.Resources, picked)
				break
			}
		}
	}
	if len(out.Resources) == 0 {
		return Explanation{}, e.unknown(selector)
	}
	return out, nil
}

// selectField returns the resource with the field that the rest of a selector names, ignoring
// case; an empty rest selects all fields.
func (r Resource) selectField(rest string) (Resource, bool) {
	if rest == "" {
		return r, true
	}
	name, ok := strings.CutPrefix(rest, ".")
	if !ok {
		return Resource{}, false
	}
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			r.Fields = []Field{f}
			return r, true
		}
	}
	return Resource{}, false
}
