package laws

import (
	"reflect"

	"github.com/berth-lb/berth/stack"
)

// mapRefs returns a copy of a spec in which every reference is replaced; the spec itself
// if it has none.
func mapRefs(spec stack.Spec, f func(stack.Ref) stack.Ref) stack.Spec {
	if len(stack.Refs(spec)) == 0 {
		return spec
	}
	return mapValue(reflect.ValueOf(spec), f).Interface()
}

// mapValue copies a value and replaces the references in it.
func mapValue(v reflect.Value, f func(stack.Ref) stack.Ref) reflect.Value {
	if ref, ok := v.Interface().(stack.Ref); ok {
		return reflect.ValueOf(f(ref))
	}
	switch v.Kind() {
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(mapValue(v.Field(i), f))
			}
		}
		return out
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.String {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(mapValue(v.Index(i), f))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, mapValue(v.MapIndex(k), f))
		}
		if v.IsNil() {
			return v
		}
		return out
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Interface {
			out.Set(mapValue(v.Elem(), f))
			return out
		}
		copied := reflect.New(v.Type().Elem())
		copied.Elem().Set(mapValue(v.Elem(), f))
		out.Set(copied)
		return out
	default:
		return v
	}
}
