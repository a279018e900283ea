package codec

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// Resolve returns the cloud's identifier of the resource that a reference leads to; empty
// if it does not exist yet.
type Resolve func(stack.Ref) string

// Object is a JSON object that is written.
type Object = map[string]any

// Kind declares how resources with the spec T appear in a REST API.
type Kind[T any] struct {
	// One is the name of a single resource in bodies, and Many the name of a list.
	One, Many string
	// Path is the path of the collection.
	Path string

	fields []Field[T]
	aside  []string
	rest   func(*T) *string
	left   []string // undeclared fields that rest leaves out
	tidy   func(*T)
}

// New returns the kind with the fields, whose collection has the path. Lists have the name
// of the path's last element.
func New[T any](one, collection string, fields ...Field[T]) Kind[T] {
	return Kind[T]{One: one, Many: strings.ReplaceAll(path.Base(collection), "-", "_"), Path: collection, fields: fields}
}

// Aside names fields of the spec that no field of the object stands for.
func (k Kind[T]) Aside(names ...string) Kind[T] {
	k.aside = append(slices.Clone(k.aside), names...)
	return k
}

// Tidied has f normalise each decoded spec, such as by sorting what the cloud keeps no order of.
func (k Kind[T]) Tidied(f func(*T)) Kind[T] {
	k.tidy = f
	return k
}

// Rest has the spec keep the fields of observed objects that the kind does not declare, as
// JSON, so that [Kind.Replace] writes them back. Empty fields are left out, and so are the
// named ones.
func (k Kind[T]) Rest(field func(*T) *string, except ...string) Kind[T] {
	k.rest, k.left = field, except
	return k
}

// Operation returns the name under which metrics count a call about the kind.
func (k Kind[T]) Operation(method string) string { return method + " " + path.Base(k.Path) }

// Create returns the body that creates a resource. It omits fields without a value, unless
// they are always written.
func (k Kind[T]) Create(spec T, ids Resolve) Object {
	return k.body(k.kept(spec), spec, ids, func(f Field[T]) written {
		if f.mode == readOnly {
			return skipped
		}
		return f.atCreation()
	})
}

// Update returns the body that updates the changed fields of the spec; empty if none of
// them can be updated. A changed field without a value is written as empty, or as null.
func (k Kind[T]) Update(spec T, changed []string, ids Resolve) Object {
	return k.body(Object{}, spec, ids, func(f Field[T]) written {
		touched := slices.ContainsFunc(f.specs, func(name string) bool { return slices.Contains(changed, name) })
		if f.mode == withUpdates || f.mode == inPlace && touched {
			return asEmpty
		}
		return skipped
	})
}

// Replace returns the body of a call that replaces the whole object. It has all fields but
// the ones that are fixed at creation, and what [Kind.Rest] has kept.
func (k Kind[T]) Replace(spec T, ids Resolve) Object {
	return k.body(k.kept(spec), spec, ids, func(f Field[T]) written {
		switch {
		case f.mode == readOnly || f.mode == onCreate:
			return skipped
		case f.null:
			return asEmpty
		}
		return f.atCreation()
	})
}

// written says how a body has a field without a value.
type written int

const (
	skipped   written = iota // the body does not have the field at all
	ifPresent                // only with a value
	asEmpty                  // as empty, or as null
)

// kept returns the undeclared fields that the spec has kept.
func (k Kind[T]) kept(spec T) Object {
	out := Object{}
	if k.rest != nil && *k.rest(&spec) != "" {
		_ = json.Unmarshal([]byte(*k.rest(&spec)), &out) // JSON by construction, see undeclared
	}
	return out
}

// body adds the fields to an object that is to be written.
func (k Kind[T]) body(out Object, spec T, ids Resolve, as func(Field[T]) written) Object {
	for _, f := range k.fields {
		how := as(f)
		if how == skipped || f.when != nil && !f.when(spec) {
			continue
		}
		value, ok := f.value(spec, ids)
		switch {
		case ok:
			out[f.name] = value
		case how == asEmpty && f.null:
			out[f.name] = nil
		case how == asEmpty:
			out[f.name] = withoutNil(value)
		}
	}
	return out
}

// Decode returns the spec of an observed object. Fields that the object does not have keep
// their zero value. The error names the field that has another type.
func (k Kind[T]) Decode(object []byte) (T, error) {
	var spec T
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &all); err != nil {
		return spec, fmt.Errorf("%s: %w", k.One, err)
	}
	if err := decodeFields(&spec, all, k.fields); err != nil {
		return spec, fmt.Errorf("%s: %w", k.One, err)
	}
	if k.rest != nil {
		rest, err := k.undeclared(all)
		if err != nil {
			return spec, err
		}
		*k.rest(&spec) = rest
	}
	if k.tidy != nil {
		k.tidy(&spec)
	}
	return spec, nil
}

// undeclared returns the fields of an object that are not declared and not empty, as JSON.
func (k Kind[T]) undeclared(all map[string]json.RawMessage) (string, error) {
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(name string, value json.RawMessage) bool {
		declared := slices.Contains(k.left, name) || slices.ContainsFunc(k.fields, func(f Field[T]) bool { return f.name == name })
		return declared || slices.Contains([]string{"null", "[]", "{}", `""`}, string(value))
	})
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// Rule adds to a rule what the declaration says of fields: a difference in one that is
// immutable forces a replacement, and one that is fixed at creation is not compared.
func (k Kind[T]) Rule(r diff.Rule) diff.Rule {
	for _, f := range k.fields {
		switch f.mode {
		case immutable:
			r.Immutable = mergeNames(r.Immutable, f.specs)
		case onCreate, withUpdates, readOnly:
			r.Ignore = mergeNames(r.Ignore, f.specs)
		case inPlace:
		}
	}
	return r
}

func mergeNames(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// Problems lists what is wrong with the declaration, for a test: names that occur twice, and
// fields of the spec that are neither declared nor set aside.
func (k Kind[T]) Problems() []string {
	var out []string
	names, specs := map[string]bool{}, slices.Clone(k.aside)
	if k.rest != nil {
		specs = append(specs, specFields(k.rest)...)
	}
	for _, f := range k.fields {
		if names[f.name] {
			out = append(out, f.name+": is declared twice")
		}
		names[f.name] = true
		if len(f.specs) == 0 && !f.constant {
			out = append(out, f.name+": stands for no field of the spec")
		}
		specs = append(specs, f.specs...)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if len(f.Index) == 1 && !slices.Contains(specs, f.Name) {
			out = append(out, f.Name+": the spec's field is neither declared nor set aside")
		}
	}
	return out
}
