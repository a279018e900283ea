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
	collectRefs(reflect.ValueOf(value), &out)
	return out
}

func collectRefs(v reflect.Value, out *[]Ref) {
	if !v.IsValid() {
		return
	}
	if v.Type() == reflect.TypeFor[Ref]() {
		if r, ok := v.Interface().(Ref); ok && !r.IsZero() {
			*out = append(*out, r)
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collectRefs(v.Field(i), out)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.String {
			return // there may be thousands
		}
		for i := range v.Len() {
			collectRefs(v.Index(i), out)
		}
	case reflect.Pointer, reflect.Interface:
		collectRefs(v.Elem(), out)
	case reflect.Map:
		for _, k := range v.MapKeys() {
			collectRefs(v.MapIndex(k), out)
		}
	default: // scalars hold no references
	}
}
