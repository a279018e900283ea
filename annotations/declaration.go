package annotations

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A Declaration is what NewSet takes: a *Key[T] or what Foreign returns.
type Declaration interface {
	declare() *declaration
}

// declaration is a Key without its Go type, so that keys of all types can stand
// in one list.
type declaration struct {
	handle    Declaration
	name      string
	place     Place
	group     string
	doc       string
	example   string
	aliases   []string
	hides     bool // an empty name hides the aliases
	protocols []string
	secret    bool
	writer    Writer
	exposes   Exposure
	names     Names
	spelling  func() spelling // of the name; only keys that are not known are compared with it
	onDelete  bool
	foreign   bool
	order     int       // as given to NewSet; the docs keep it
	matchers  []matcher // of the name and then of the aliases
	forms     []form
}

// form is a Form without its Go type.
type form struct {
	kinds    []string
	facts    facts
	parse    func(raw string, sc scope) (any, []string, error)
	fallback any
	defaults string // the default for people
	or       []string
	declares bool // Empty is declared
	effects  Effects
	bad      Bad
	empty    Empty
	needs    []Need
	support  Support
	reason   string
	doc      string
	source   string
}

func (k *Key[T]) declare() *declaration {
	d := &declaration{
		handle:    k,
		name:      k.Name,
		place:     orElse(k.On, ServiceAnnotation),
		group:     k.Group,
		doc:       k.Doc,
		example:   k.Example,
		aliases:   k.Aliases,
		hides:     k.EmptyHides,
		protocols: k.Protocols,
		secret:    k.Secret,
		writer:    orElse(k.Writer, ByUser),
		exposes:   k.Exposes,
		names:     k.Names,
		spelling:  sync.OnceValue(func() spelling { return spellingOf(k.Name) }),
		onDelete:  k.OnDelete,
		matchers:  newMatchers(k.AnyCase, append([]string{k.Name}, k.Aliases...)),
	}
	for i := range k.Forms {
		d.forms = append(d.forms, k.Forms[i].erase())
	}
	return d
}

func (f *Form[T]) erase() form {
	out := form{
		kinds:    f.Kinds,
		facts:    f.Type.facts,
		fallback: f.Fallback,
		defaults: describeOr(f.Or, describeDefault(f.DefaultDoc, f.Default)),
		or:       f.Or,
		declares: f.Empty != "",
		effects:  Effects{orElse(f.Change, InPlace), f.Removal},
		bad:      orElse(f.Bad, Refuse),
		empty:    orElse(f.Empty, EmptyParsed),
		needs:    f.Needs,
		support:  orElse(f.Support, Works),
		reason:   f.Reason,
		doc:      f.Doc,
		source:   f.Source,
	}
	if parse := f.Type.parse; parse != nil {
		out.parse = func(raw string, sc scope) (any, []string, error) { return parse(raw, sc) }
	}
	return out
}

// Foreign declares keys that stand under the provider's prefixes but belong to
// another program. They are neither read nor complained about. A trailing "*"
// stands for any rest.
func Foreign(reason string, keys ...string) Declaration {
	return &foreign{reason: reason, keys: keys}
}

type foreign struct {
	reason string
	keys   []string
}

func (f *foreign) declare() *declaration {
	return &declaration{
		handle:   f,
		name:     strings.Join(f.keys, ", "),
		doc:      f.reason,
		foreign:  true,
		matchers: newMatchers(false, f.keys),
	}
}

// form returns the index of the form for a kind, or -1.
func (d *declaration) form(kind string) int {
	return formFor(len(d.forms), func(i int) []string { return d.forms[i].kinds }, kind)
}

// entry returns a value of the key for a bag.
func (d *declaration) entry(value any, origin Origin) entry {
	return entry{value: value, origin: origin, names: d.names, reported: d.writer != ByUser}
}

// onService reports whether Parse reads the key.
func (d *declaration) onService() bool {
	return d.place == ServiceAnnotation || d.place == ServiceLabel
}

func (d *declaration) perPort() bool {
	return portMarkOf(d.name) != "" || strings.Contains(d.name, protocolMark)
}

// matches reports whether the text is the key or one of its aliases.
func (d *declaration) matches(key string) bool {
	return slices.ContainsFunc(d.matchers, func(m matcher) bool {
		_, _, ok := m.match(key)
		return ok
	})
}

// kinds returns the kinds the forms name, in order, and whether one form takes
// all the others.
func (d *declaration) kinds() (named []string, rest bool) {
	for i := range d.forms {
		rest = rest || len(d.forms[i].kinds) == 0
		for _, kind := range d.forms[i].kinds {
			if !slices.Contains(named, kind) {
				named = append(named, kind)
			}
		}
	}
	return named, rest
}

func orElse[S ~string](value, zero S) S {
	if value == "" {
		return zero
	}
	return value
}

// describeOr puts the keys of the configuration before the default.
func describeOr(keys []string, rest string) string {
	if len(keys) == 0 {
		return rest
	}
	text := strings.Join(keys, ", else ") + " of the configuration"
	if rest == "none" || rest == "false" {
		return text
	}
	return text + ", else " + rest
}

// describeDefault prefers the author's words; a zero value other than false
// would mislead, so it reads "none".
func describeDefault(words string, value any) string {
	if words != "" {
		return words
	}
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return "none"
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(value)
	case v.IsZero():
		return "none"
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Map:
		if v.Len() == 0 {
			return "none"
		}
	}
	return strings.Trim(fmt.Sprint(value), "[]")
}
