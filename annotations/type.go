package annotations

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A Type reads the text of an annotation into a Go value. Make one with the
// functions of this package (Bool, Int, Enum, ListOf, Custom, ...). A Type is a
// value; the methods return changed copies.
type Type[T any] struct {
	facts facts
	parse func(raw string, sc scope) (T, []string, error)
}

// facts are what docs and problems say about a type.
type facts struct {
	name       string
	head, tail string // legal values: head, " of " unit, tail
	unit       string
	values     []string
	min, max   *int64
	trimmed    bool // blanks around the text do not count
	// open reports whether a value admits all clients; nil: the key does not limit clients.
	open func(raw string) bool
	// strict refuses a key that limits the clients and lacks what it needs.
	strict bool
}

// Legal is a noun phrase for the legal values.
func (f facts) Legal() string {
	if f.unit == "" || f.head == "" {
		return f.head + f.tail
	}
	return f.head + " of " + f.unit + f.tail
}

func (f facts) schema() Schema {
	return Schema{Type: f.name, Legal: f.Legal(), Unit: f.unit, Min: f.min, Max: f.max, Values: append([]string{}, f.values...)}
}

// Legal is a noun phrase for the legal values, as problems show it.
func (t Type[T]) Legal() string { return t.facts.Legal() }

// In sets the unit, in the plural: "seconds".
func (t Type[T]) In(unit string) Type[T] {
	t.facts.unit = unit
	return t
}

// Legally replaces the words for the legal values.
func (t Type[T]) Legally(legal string) Type[T] {
	t.facts.head, t.facts.tail, t.facts.unit = legal, "", ""
	return t
}

// Trimmed cuts blanks around the text first. Types do not trim by themselves,
// except around the items of lists and maps.
func (t Type[T]) Trimmed() Type[T] {
	inner := t.parse
	if inner == nil {
		return t
	}
	t.facts.trimmed = true
	t.parse = func(raw string, sc scope) (T, []string, error) { return inner(strings.TrimSpace(raw), sc) }
	return t
}

// Checked adds a rule about the value. The error text is read after the quoted
// value: "is longer than 32 characters".
func (t Type[T]) Checked(rule func(T) error) Type[T] {
	inner := t.parse
	if inner == nil {
		return t
	}
	t.parse = func(raw string, sc scope) (T, []string, error) {
		value, notes, err := inner(raw, sc)
		if err == nil {
			err = rule(value)
		}
		if err != nil {
			var zero T
			return zero, nil, err
		}
		return value, notes, nil
	}
	return t
}

// Parse reads one text outside of a Set, without Service ports.
func (t Type[T]) Parse(raw string) (T, error) {
	if t.parse == nil {
		var zero T
		return zero, errors.New("has no type")
	}
	value, _, err := t.parse(raw, scope{})
	return value, err
}

// Custom makes a type from a function. The name is for the docs, legal is a noun
// phrase, and the function's error text is read after the quoted value.
func Custom[T any](name, legal string, parse func(raw string) (T, error)) Type[T] {
	return Type[T]{
		facts: facts{name: name, head: legal},
		parse: func(raw string, _ scope) (T, []string, error) {
			value, err := parse(raw)
			return value, nil, err
		},
	}
}

// CustomPorts is Custom for values that refer to Service ports.
func CustomPorts[T any](name, legal string, parse func(raw string, ports []corev1.ServicePort) (T, error)) Type[T] {
	return Type[T]{
		facts: facts{name: name, head: legal},
		parse: func(raw string, sc scope) (T, []string, error) {
			value, err := parse(raw, sc.ports)
			return value, nil, err
		},
	}
}

// Forbidden is the type of a key that must be absent on a kind. The reason is a
// clause: "network load balancers have one list of groups only".
func Forbidden[T any](reason string) Type[T] {
	return Type[T]{
		facts: facts{name: "must be absent"},
		parse: func(string, scope) (T, []string, error) {
			var zero T
			return zero, nil, fmt.Errorf("must not be set on this kind: %s", reason)
		},
	}
}
