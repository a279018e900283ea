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
	handle   Declaration
	key      Key[any] // with defaults in place of zero values
	foreign  bool
	order    int             // as given to NewSet; the docs keep it
	matchers []matcher       // of the name and then of the aliases
	spelling func() spelling // of the name; only keys that are not known are compared with it
}

func (k *Key[T]) declare() *declaration {
	d := &declaration{
		handle: k,
		key: Key[any]{
			Name: k.Name, On: orElse(k.On, ServiceAnnotation), Aliases: k.Aliases, EmptyHides: k.EmptyHides, Protocols: k.Protocols,
			OnDelete: k.OnDelete, Writer: orElse(k.Writer, ByUser), Exposes: k.Exposes, Names: k.Names, Secret: k.Secret,
			Group: k.Group, Doc: k.Doc, Example: k.Example,
		},
		matchers: newMatchers(k.AnyCase, append([]string{k.Name}, k.Aliases...)),
		spelling: sync.OnceValue(func() spelling { return spellingOf(k.Name) }),
	}
	for i := range k.Forms {
		d.key.Forms = append(d.key.Forms, k.Forms[i].erase())
	}
	return d
}

func (f *Form[T]) erase() Form[any] {
	out := Form[any]{
		Kinds: f.Kinds, Type: Type[any]{facts: f.Type.facts}, Default: f.Default, DefaultDoc: f.DefaultDoc, Or: f.Or,
		Change: orElse(f.Change, InPlace), Removal: f.Removal, Bad: orElse(f.Bad, Refuse), Fallback: f.Fallback, Empty: f.Empty,
		Support: orElse(f.Support, Works), Needs: f.Needs, Reason: f.Reason, Doc: f.Doc, Source: f.Source,
	}
	if parse := f.Type.parse; parse != nil {
		out.Type.parse = func(raw string, sc scope) (any, []string, error) { return parse(raw, sc) }
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
		key:      Key[any]{Name: strings.Join(f.keys, ", "), Doc: f.reason},
		foreign:  true,
		matchers: newMatchers(false, f.keys),
	}
}

// form returns the index of the form for a kind, or -1.
func (d *declaration) form(kind string) int {
	return formFor(d.key.Forms, kind)
}

// entry returns a value of the key for a bag.
func (d *declaration) entry(value any, origin Origin) entry {
	return entry{value: value, origin: origin, names: d.key.Names, reported: d.key.Writer != ByUser}
}

// onService reports whether Parse reads the key.
func (d *declaration) onService() bool {
	return d.key.On == ServiceAnnotation || d.key.On == ServiceLabel
}

func (d *declaration) perPort() bool {
	return portMarkOf(d.key.Name) != "" || strings.Contains(d.key.Name, protocolMark)
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
	for i := range d.key.Forms {
		rest = rest || len(d.key.Forms[i].Kinds) == 0
		for _, kind := range d.key.Forms[i].Kinds {
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

// defaultText puts the keys of the configuration before the default.
func (f *Form[T]) defaultText() string {
	rest := orElse(f.DefaultDoc, describeValue(f.Default))
	if len(f.Or) == 0 {
		return rest
	}
	text := strings.Join(f.Or, ", else ") + " of the configuration"
	if rest == "none" || rest == "false" {
		return text
	}
	return text + ", else " + rest
}

// describeValue describes a default; a zero value other than false would mislead, so it
// reads "none".
func describeValue(value any) string {
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
