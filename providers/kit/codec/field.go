package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack"
)

// mode is what an API allows with a field of a live resource.
type mode int

const (
	onCreate    mode = iota // written at creation, and not compared later
	withUpdates             // not compared, but written with each update
	inPlace                 // can be updated
	immutable               // a difference forces a replacement
	readOnly                // the cloud's own
)

// Field is one field of the JSON objects of a kind with the spec T. Without an option it is
// written at creation if it has a value, and a later difference is not compared.
type Field[T any] struct {
	name     string
	specs    []string // names of the spec's fields that it stands for
	mode     mode
	always   bool
	null     bool
	constant bool // it stands for no field of the spec
	when     func(T) bool
	// value returns the JSON form of the spec's value; false: it is the empty one.
	value  func(spec T, ids Resolve) (any, bool)
	decode func(spec *T, value json.RawMessage) error
}

// InPlace declares that the field of a live resource can be updated.
func (f Field[T]) InPlace() Field[T] { return f.as(inPlace) }

// WithUpdates declares a field that is written with each update, and whose difference alone
// is no reason for one.
func (f Field[T]) WithUpdates() Field[T] { return f.as(withUpdates) }

// Immutable declares that a difference forces a replacement.
func (f Field[T]) Immutable() Field[T] { return f.as(immutable) }

// ReadOnly declares a field that only the cloud writes.
func (f Field[T]) ReadOnly() Field[T] { return f.as(readOnly) }

func (f Field[T]) as(m mode) Field[T] {
	f.mode = m
	return f
}

// Always has creations write the field even without a value.
func (f Field[T]) Always() Field[T] {
	f.always = true
	return f
}

// Null has updates write null where the spec has no value.
func (f Field[T]) Null() Field[T] {
	f.null = true
	return f
}

// When has the field written only for specs for which is reports true.
func (f Field[T]) When(is func(T) bool) Field[T] {
	f.when = is
	return f
}

// Covers names the fields of the spec that a field stands for whose form is made of several.
func (f Field[T]) Covers(names ...string) Field[T] {
	f.specs = names
	return f
}

func (f Field[T]) atCreation() written {
	if f.always {
		return asEmpty
	}
	return ifPresent
}

// Of declares a field with the JSON form of the spec's field that get points to.
func Of[T, V any](name string, get func(*T) *V) Field[T] {
	return As(name, get,
		func(v V) (any, bool) { return v, !reflect.ValueOf(&v).Elem().IsZero() },
		func(v *V, text json.RawMessage) error { return json.Unmarshal(text, v) })
}

// As declares a field in a form of its own. encode returns what is written, and reports
// whether there is a value; without one the zero value of its type is written as empty.
// decode reads an observed value, which is not null.
func As[T, V any](name string, get func(*T) *V, encode func(V) (any, bool), decode func(*V, json.RawMessage) error) Field[T] {
	f := Field[T]{name: name, specs: specFields(get)}
	f.value = func(spec T, _ Resolve) (any, bool) { return encode(*get(&spec)) }
	f.decode = func(spec *T, text json.RawMessage) error { return decode(get(spec), text) }
	return f.nullable()
}

// Ref declares a field with the identifier of the resource that the spec refers to. An
// observed one is decoded as a reference to that identifier.
func Ref[T any](name string, get func(*T) *stack.Ref) Field[T] {
	f := Field[T]{name: name, specs: specFields(get)}
	f.value = func(spec T, ids Resolve) (any, bool) {
		id := ""
		if ref := *get(&spec); !ref.IsZero() && ids != nil {
			id = ids(ref)
		}
		return id, id != ""
	}
	f.decode = func(spec *T, text json.RawMessage) error {
		var id string
		err := json.Unmarshal(text, &id)
		if id != "" {
			*get(spec) = stack.RefID(id)
		}
		return err
	}
	return f.nullable()
}

// Nested declares a field that is an object of its own, with fields of the spec's field that
// get points to; the spec itself, where the API groups what the spec does not. The object
// is written if one of its fields has a value.
func Nested[T, V any](name string, get func(*T) *V, fields ...Field[V]) Field[T] {
	f := Field[T]{name: name, specs: nestedFields(get, fields)}
	inner := Kind[V]{fields: fields}
	f.value = func(spec T, ids Resolve) (any, bool) {
		part := *get(&spec)
		hasValue := func(f Field[V]) bool {
			_, ok := f.value(part, ids)
			return ok && (f.when == nil || f.when(part))
		}
		return inner.Create(part, ids), slices.ContainsFunc(fields, hasValue)
	}
	f.decode = func(spec *T, text json.RawMessage) error {
		all := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		return decodeFields(get(spec), all, fields)
	}
	return f.nullable()
}

// List declares a field that is a list of objects, each with the fields of an item.
func List[T, V any](name string, get func(*T) *[]V, item Kind[V]) Field[T] {
	f := Field[T]{name: name, specs: specFields(get)}
	f.value = func(spec T, ids Resolve) (any, bool) {
		out := []Object{}
		for _, v := range *get(&spec) {
			out = append(out, item.Create(v, ids))
		}
		return out, len(out) > 0
	}
	f.decode = func(spec *T, text json.RawMessage) error {
		var raw []json.RawMessage
		if err := json.Unmarshal(text, &raw); err != nil {
			return err
		}
		for _, one := range raw {
			v, err := item.Decode(one)
			if err != nil {
				return err
			}
			*get(spec) = append(*get(spec), v)
		}
		return nil
	}
	return f.nullable()
}

// Constant declares a field that each creation writes with the same value, and that no spec has.
func Constant[T any](name string, value any) Field[T] {
	return Field[T]{name: name, constant: true, always: true, value: func(T, Resolve) (any, bool) { return value, false }}
}

// Observed declares a field that is only read: decode puts it into the spec's fields of
// these names.
func Observed[T any](name string, decode func(*T, json.RawMessage) error, specs ...string) Field[T] {
	return Field[T]{name: name, specs: specs, mode: readOnly, decode: decode}.nullable()
}

// nullable lets null stand for a value that does not exist, in both directions.
func (f Field[T]) nullable() Field[T] {
	decode := f.decode
	f.decode = func(spec *T, text json.RawMessage) error {
		if bytes.Equal(text, []byte("null")) {
			return nil
		}
		return decode(spec, text)
	}
	return f
}

// withoutNil returns a value without nil lists and maps, which JSON writes as null.
func withoutNil(value any) any {
	v := reflect.ValueOf(value)
	switch {
	case v.Kind() == reflect.Slice && v.IsNil():
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	case v.Kind() == reflect.Map && v.IsNil():
		return reflect.MakeMap(v.Type()).Interface()
	}
	return value
}

func decodeFields[T any](spec *T, all map[string]json.RawMessage, fields []Field[T]) error {
	for _, f := range fields {
		text, found := all[f.name]
		if !found || f.decode == nil {
			continue
		}
		if err := f.decode(spec, text); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// specFields returns the name of the field of T that get points to, or into.
func specFields[T, V any](get func(*T) *V) []string {
	var spec T
	begin := reflect.ValueOf(&spec).Pointer()
	at := reflect.ValueOf(get(&spec)).Pointer() - begin
	for t, i := reflect.TypeFor[T](), 0; i < t.NumField(); i++ {
		if f := t.Field(i); at >= f.Offset && at < f.Offset+f.Type.Size() {
			return []string{f.Name}
		}
	}
	return nil
}

// nestedFields returns the spec's field that get points to, or the fields of the object
// where that is the spec itself.
func nestedFields[T, V any](get func(*T) *V, fields []Field[V]) []string {
	if reflect.TypeFor[T]() != reflect.TypeFor[V]() {
		return specFields(get)
	}
	var out []string
	for _, f := range fields {
		out = append(out, f.specs...)
	}
	return out
}
