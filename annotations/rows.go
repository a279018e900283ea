package annotations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// A Row is everything that is known about one key, for tools. Where forms for
// different kinds differ, the fields of the embedded Facts are those of the first
// form and Variants holds all of them.
type Row struct {
	Key   string `json:"key"`
	On    Place  `json:"on"`
	Group string `json:"group"`
	Facts
	Doc      string   `json:"doc"`
	Aliases  []string `json:"aliases"`
	PerPort  bool     `json:"perPort"`
	OnDelete bool     `json:"onDelete"`
	Secret   bool     `json:"secret"`
	Writer   Writer   `json:"writer"`
	Exposes  Exposure `json:"exposes,omitempty"`
	Limits   bool     `json:"limits,omitempty"` // it limits the clients
	Names    []string `json:"names,omitempty"`  // things that the value names, or nothing
	Example  string   `json:"example,omitempty"`
	Variants []Facts  `json:"variants,omitempty"`
}

// Facts are what one form says, without its Go type.
type Facts struct {
	Kinds []string `json:"kinds"` // of a Row: those of all variants
	Schema
	Default string   `json:"default"`
	Or      []string `json:"or,omitempty"` // keys of the configuration that are the default
	Empty   string   `json:"empty"`        // what an empty value means
	Effects
	Bad     string   `json:"bad"`
	Needs   []string `json:"needs,omitempty"` // each must hold
	Support Support  `json:"support"`         // of a Row: the best of all variants
	Reason  string   `json:"reason"`
	Note    string   `json:"note,omitempty"`
	Source  string   `json:"source"`
}

// Rows lists the declared keys, each once, sorted by key.
func Rows(set *Set) []Row {
	out := []Row{}
	for _, ds := range set.byName() {
		out = append(out, set.row(ds))
	}
	return out
}

// Row returns everything that is known about the declaration of a key, in any spelling and for any
// port; false: the key is not declared.
func (s *Set) Row(key string) (Row, bool) {
	found := s.find(key)
	if len(found) == 0 {
		return Row{}, false
	}
	return s.row(found), true
}

// For returns the facts for a kind of load balancer; those of the first form if none is for the
// kind.
func (r Row) For(kind string) Facts {
	for _, v := range r.Variants {
		if slices.Contains(v.Kinds, kind) {
			return v
		}
	}
	return r.Facts
}

// JSON is Rows as an indented JSON list that ends with a line break.
func JSON(set *Set) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // keys hold <PORT>
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(Rows(set)); err != nil {
		return nil, fmt.Errorf("%s annotations as JSON: %w", set.provider, err)
	}
	return b.Bytes(), nil
}

// byName groups the declarations that share a name and a place.
func (s *Set) byName() [][]*declaration {
	var out [][]*declaration
	for _, d := range s.declarations {
		if d.foreign {
			continue
		}
		at := slices.IndexFunc(out, func(ds []*declaration) bool {
			return ds[0].key.Name == d.key.Name && ds[0].key.On == d.key.On
		})
		if at < 0 {
			out = append(out, []*declaration{d})
			continue
		}
		out[at] = append(out[at], d)
	}
	return out
}

func (s *Set) row(ds []*declaration) Row {
	first := ds[0]
	r := Row{
		Key: first.key.Name, On: first.key.On, Group: first.key.Group, Doc: first.key.Doc,
		Writer: first.key.Writer, Exposes: first.key.Exposes, Names: first.described(), Example: first.key.Example, PerPort: first.perPort(), Aliases: []string{},
	}
	for _, d := range ds {
		r.Aliases = append(r.Aliases, d.key.Aliases...)
		r.OnDelete = r.OnDelete || d.key.OnDelete
		r.Secret = r.Secret || d.key.Secret
		if r.Example == "" {
			r.Example = d.key.Example
		}
		for i := range d.key.Forms {
			r.Limits = r.Limits || d.key.Forms[i].Type.facts.open != nil
			r.Variants = append(r.Variants, s.facts(ds, d, &d.key.Forms[i]))
		}
	}
	slices.Sort(r.Aliases)
	r.Aliases = slices.Compact(r.Aliases)
	if len(r.Variants) == 0 {
		return r
	}
	r.Facts = r.Variants[0]
	r.Kinds = []string{}
	for _, v := range r.Variants {
		r.Kinds = append(r.Kinds, v.Kinds...)
		if rankSupport(v.Support) < rankSupport(r.Support) {
			r.Support, r.Reason = v.Support, v.Reason
		}
	}
	slices.Sort(r.Kinds)
	r.Kinds = slices.Compact(r.Kinds)
	if len(r.Variants) == 1 {
		r.Variants = nil
	}
	return r
}

func rankSupport(s Support) int { return slices.Index([]Support{Works, Accepted, Later}, s) }

func (s *Set) facts(ds []*declaration, d *declaration, f *Form[any]) Facts {
	kinds := slices.Clone(f.Kinds)
	if len(kinds) == 0 {
		kinds = []string{}
		named := kindsOf(ds)
		for _, kind := range s.Kinds() {
			if !slices.Contains(named, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	note := f.Doc
	if d != ds[0] && d.key.Doc != ds[0].key.Doc && note == "" {
		note = d.key.Doc
	}
	return Facts{
		Kinds: kinds, Schema: f.Type.facts.schema(), Default: f.defaultText(), Or: f.Or, Empty: f.emptyText(), Effects: Effects{f.Change, f.Removal},
		Bad: f.badText(), Needs: f.needTexts(), Support: f.Support, Reason: f.Reason, Note: note, Source: f.Source,
	}
}

// Schema describes the legal values of a type.
type Schema struct {
	Type   string   `json:"type"`
	Legal  string   `json:"legal"`
	Unit   string   `json:"unit"`
	Min    *int64   `json:"min"`
	Max    *int64   `json:"max"`
	Values []string `json:"values"`
}

// Effects are what changes of a key do to a live load balancer.
type Effects struct {
	Change  Change  `json:"change"`
	Removal Removal `json:"removal,omitempty"` // empty: the default again
}

// Texts of Facts.Empty.
const (
	emptyAbsent  = "counts as not set"
	emptyIllegal = "is not legal"
	emptyValue   = "is a value"
)

// emptyText describes the meaning of an empty value.
func (f *Form[T]) emptyText() string {
	if f.Empty == EmptyAbsent {
		return emptyAbsent
	}
	if f.Type.parse == nil {
		return ""
	}
	value, _, err := f.Type.parse("", scope{})
	switch v := reflect.ValueOf(value); {
	case err != nil:
		return emptyIllegal
	case len(f.Or) > 0:
		return "overrides the configuration with no value"
	case v.Kind() == reflect.Bool:
		return fmt.Sprintf("counts as %v", value)
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Map:
		return "is an empty list"
	}
	return emptyValue
}

// badText says what a bad value does, naming the fallback.
func (f *Form[T]) badText() string {
	if f.Bad == UseFallback {
		return "counts as " + quoteValue(fmt.Sprint(f.Fallback))
	}
	return string(f.Bad)
}

// needTexts describes what the key has no effect without.
func (f *Form[T]) needTexts() []string {
	var out []string
	for _, n := range f.Needs {
		out = append(out, n.String())
	}
	return out
}
