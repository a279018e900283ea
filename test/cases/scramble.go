package cases

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Scramble returns a deep copy of a value in which bytes of a fuzzer have changed a few
// things: every two bytes say what and how. Texts become empty or others, numbers and
// flags others, lists and maps shorter or nothing. What is not exported stays.
func Scramble[T any](v T, data []byte) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(deepCopy(reflect.ValueOf(&v).Elem()))
	for ; len(data) >= 2; data = data[2:] {
		if places := placesIn(out, nil); len(places) > 0 {
			scrambleField(places[int(data[0])%len(places)], data[1])
		}
	}
	return out.Interface().(T)
}

// ScrambleStack is Scramble for a found stack: resources are missing, or have other
// identifiers, proofs, states and content. Their keys and their parents stay: a read
// determines their place by them.
func ScrambleStack(s *stack.Stack, data []byte) *stack.Stack {
	out := s.Clone()
	for ; len(data) >= 4 && len(out.Resources) > 0; data = data[4:] {
		at := int(data[0]) % len(out.Resources)
		r := out.Resources[at]
		switch data[1] % 8 {
		case 0:
			out.Drop(r.Key)
			continue
		case 1:
			r.ID = ""
		case 2:
			r.Proof = stack.Proof(int(data[2]) % (int(stack.Leftover) + 1))
		case 3:
			r.State = stack.State(int(data[2]) % (int(stack.Failed) + 1))
		default:
			r.Spec = Scramble(r.Spec, data[2:4])
		}
		out.Put(r)
	}
	return out
}

// deepCopy returns a deep copy. Structs whose fields are not exported are values.
func deepCopy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(deepCopy(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(deepCopy(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(deepCopy(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for _, k := range v.MapKeys() {
				out.SetMapIndex(k, deepCopy(v.MapIndex(k)))
			}
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// place is a value that can be written.
type place struct {
	is  reflect.Value
	set func(reflect.Value)
}

// placesIn lists what can be written in a value, in an order of its own.
func placesIn(v reflect.Value, out []place) []place {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return placesIn(v.Elem(), out)
		}
		return out
	case reflect.Interface:
		if v.IsNil() {
			return out
		}
		inner := reflect.New(v.Elem().Type()).Elem()
		inner.Set(v.Elem())
		for _, p := range placesIn(inner, nil) {
			set := p.set
			out = append(out, place{p.is, func(to reflect.Value) { set(to); v.Set(inner) }})
		}
		return out
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out = placesIn(v.Field(i), out)
			}
		}
		return out
	case reflect.Slice:
		for i := range v.Len() {
			out = placesIn(v.Index(i), out)
		}
	case reflect.Map:
		for _, k := range sortedKeys(v) {
			inner := reflect.New(v.Type().Elem()).Elem()
			inner.Set(v.MapIndex(k))
			for _, p := range placesIn(inner, nil) {
				set := p.set
				out = append(out, place{p.is, func(to reflect.Value) { set(to); v.SetMapIndex(k, inner) }})
			}
		}
	default: // nothing is inside
	}
	return append(out, place{v, v.Set})
}

func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// scrambleField writes another value into a place.
func scrambleField(p place, how byte) {
	to := reflect.New(p.is.Type()).Elem()
	switch p.is.Kind() {
	case reflect.String:
		to.SetString([]string{"", "x", strings.ToUpper(p.is.String()), p.is.String() + "-2", "10.0.0.1"}[how%5])
	case reflect.Bool:
		to.SetBool(!p.is.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		to.SetInt([]int64{0, -1, 1, p.is.Int() + 1, 1 << 14}[how%5] % (1 << 15))
	case reflect.Slice:
		if n := p.is.Len(); how%3 > 0 && n > 0 {
			to.Set(p.is.Slice(0, n-1))
		}
		if n := p.is.Len(); how%3 == 2 && n > 0 {
			to.Set(reflect.Append(to, p.is.Index(0)))
		}
	case reflect.Map:
		if keys := sortedKeys(p.is); how%2 > 0 && len(keys) > 0 {
			to.Set(deepCopy(p.is))
			to.SetMapIndex(keys[int(how)%len(keys)], reflect.Value{})
		}
	default: // the zero value
	}
	p.set(to)
}
