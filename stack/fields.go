package stack

import "reflect"

// Field is one exported field of a spec.
type Field struct {
	Name  string
	Value any
	// Evidence fields are knowledge about a resource and no part of it: a plan
	// does not show them. They are tagged `stack:"evidence"`.
	Evidence bool
}

// Fields lists the exported fields of a spec in the order of declaration. A nil
// spec has none. Fields with the tag `stack:"aside"` are left out: they are parameters of the
// call that writes the resource, and are neither compared nor shown.
func Fields(spec Spec) []Field {
	v := reflect.ValueOf(spec)
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return nil
	}
	out := make([]Field, 0, v.NumField())
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("stack") != "aside" {
			out = append(out, Field{Name: f.Name, Value: v.Field(i).Interface(), Evidence: f.Tag.Get("stack") == "evidence"})
		}
	}
	return out
}

// Value returns the value of the named field of a spec; false: it has none.
func Value(spec Spec, field string) (any, bool) {
	v := reflect.ValueOf(spec)
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return nil, false
	}
	f := v.FieldByName(field)
	if !f.IsValid() || !f.CanInterface() {
		return nil, false
	}
	return f.Interface(), true
}

// With returns a copy of the spec in which the named field has the value.
// Unknown fields and values of another type leave the spec as it is.
func With(spec Spec, field string, value any) Spec {
	v := reflect.ValueOf(spec)
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return spec
	}
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	f := copied.FieldByName(field)
	n := reflect.ValueOf(value)
	if !f.IsValid() || !n.IsValid() || !n.Type().AssignableTo(f.Type()) {
		return spec
	}
	f.Set(n)
	return copied.Interface()
}

// Refs lists the references in a value, wherever they are nested.
func Refs(value any) []Ref {
	var out []Ref
	visitRefs(reflect.ValueOf(value), func(r Ref) bool {
		out = append(out, r)
		return true
	})
	return out
}

// hasRefs reports whether there is a reference in a value.
func hasRefs(v reflect.Value) bool { return !visitRefs(v, func(Ref) bool { return false }) }

// visitRefs calls a function with each reference in a value while it returns true, and reports
// whether it always did.
//
//nolint:gocyclo // One case for each kind of value.
func visitRefs(v reflect.Value, visit func(Ref) bool) bool {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Ref]() {
			r, ok := v.Interface().(Ref)
			return !ok || r.IsZero() || visit(r)
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() && !visitRefs(f, visit) { // an exported field
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.String {
			return true // there may be thousands
		}
		for i := range v.Len() {
			if !visitRefs(v.Index(i), visit) {
				return false
			}
		}
	case reflect.Pointer, reflect.Interface:
		return visitRefs(v.Elem(), visit)
	case reflect.Map:
		for _, value := range v.Seq2() {
			if !visitRefs(value, visit) {
				return false
			}
		}
	default: // scalars hold no references
	}
	return true
}
