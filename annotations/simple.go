package annotations

import (
	"errors"
	"strings"
)

// Text declares a key of one form with any text, unless the form has a type.
func Text(name, group, doc, example string, f Form[string]) *Key[string] {
	if f.Type.parse == nil {
		f.Type = String()
	}
	return newKey(name, group, doc, example, f)
}

// Number declares a key of one form with a whole number, unless the form has a type.
func Number(name, group, doc, example string, f Form[int]) *Key[int] {
	if f.Type.parse == nil {
		f.Type = Int()
	}
	return newKey(name, group, doc, example, f)
}

// Flag declares a key of one form that is true or false, unless the form has a type.
func Flag(name, group, doc string, f Form[bool]) *Key[bool] {
	if f.Type.parse == nil {
		f.Type = Bool()
	}
	return newKey(name, group, doc, "true", f)
}

// Identifier declares a key of one form whose value is the id of a thing, which begins with a prefix.
func Identifier(name, group string, thing Thing, prefix, doc, example string, change Change, standard, source string) *Key[string] {
	legal := "an id that begins with " + prefix
	check := func(raw string) (string, error) {
		if rest, ok := strings.CutPrefix(raw, prefix); !ok || rest == "" || strings.ContainsAny(raw, " ,/?") {
			return "", errors.New("is not " + legal)
		}
		return raw, nil
	}
	k := newKey(name, group, doc, example, Plain(Custom("id", legal, check), change, standard, source))
	k.Names = NamesThe(thing)
	return k
}

// Reported declares a key that controllers write.
func Reported(name, group, doc, example, source string) *Key[string] {
	k := Text(name, group, doc, example, Form[string]{Empty: EmptyAbsent, Source: source})
	k.Names, k.Writer = NamesNothing(), ByController
	return k
}

// Ineffective declares a key that is accepted and has no effect, with the reason.
func Ineffective(name, group, doc, example, reason, source string) *Key[string] {
	k := Text(name, group, doc, example, Form[string]{Empty: EmptyAbsent, Support: Accepted, Reason: reason, Source: source})
	k.Names = NamesNothing()
	return k
}

// On declares that a new key is at another place than the annotations of a Service. It is part of the
// declaration: the key must not be in a Set yet.
func On(p Place, k *Key[string]) *Key[string] {
	k.On = p
	return k
}

// Plain returns a form of which an empty value counts as absent. standard says what is in effect without the key.
func Plain[T any](t Type[T], change Change, standard, source string) Form[T] {
	return Form[T]{Type: t, DefaultDoc: standard, Empty: EmptyAbsent, Change: change, Source: source}
}

// PlainForms returns such a form as the only one.
func PlainForms[T any](t Type[T], change Change, standard, source string) []Form[T] {
	return []Form[T]{Plain(t, change, standard, source)}
}

// newKey returns a key of one form on a Service.
func newKey[T any](name, group, doc, example string, f Form[T]) *Key[T] {
	return &Key[T]{Name: name, Group: group, Doc: doc, Example: example, Forms: []Form[T]{f}}
}

// Staying declares that the removal of a new key leaves the last value in effect. It is part of
// the declaration: the key must not be in a Set yet.
func Staying[T any](k *Key[T]) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Removal = Stays
	}
	return k
}

// Configured declares the keys of the cloud configuration that are the default of all forms
// of a new key, strongest first, and the meaning of an empty value. It is part of the
// declaration: the key must not be in a Set yet.
func Configured[T any](k *Key[T], empty Empty, keys ...string) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Or, k.Forms[i].Empty = keys, empty
	}
	return k
}
