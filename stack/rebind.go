package stack

import "reflect"

// Rebind returns a copy of the spec in which every reference, wherever it is nested in
// structs, lists and pointers, is what to returns for it.
func Rebind(spec Spec, to func(Ref) Ref) Spec {
	v := reflect.ValueOf(spec)
	if len(Refs(spec)) == 0 {
		return spec
	}
	return rebindValue(v, to).Interface()
}

func rebindValue(v reflect.Value, to func(Ref) Ref) reflect.Value {
	if ref, ok := reflect.TypeAssert[Ref](v); ok {
		if ref.IsZero() {
			return v
		}
		return reflect.ValueOf(to(ref))
	}
	switch v.Kind() {
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(rebindValue(v.Field(i), to))
			}
		}
		return out
	case reflect.Slice:
		if v.IsNil() || len(Refs(v.Interface())) == 0 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(rebindValue(v.Index(i), to))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(rebindValue(v.Elem(), to))
		return out
	default:
		return v
	}
}
