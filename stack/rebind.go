package stack

import "reflect"

// Rebind returns a copy of the spec in which every reference that [Refs] finds is what to
// returns for it.
func Rebind(spec Spec, to func(Ref) Ref) Spec {
	v := reflect.ValueOf(spec)
	if !hasRefs(v) {
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
	if !hasRefs(v) {
		return v
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
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(rebindValue(v.Index(i), to))
		}
		return out
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			out.Index(i).Set(rebindValue(v.Index(i), to))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			out.SetMapIndex(key, rebindValue(value, to))
		}
		return out
	case reflect.Interface:
		return rebindValue(v.Elem(), to)
	case reflect.Pointer:
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(rebindValue(v.Elem(), to))
		return out
	default:
		return v
	}
}
