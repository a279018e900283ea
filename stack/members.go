package stack

import (
	"net/netip"
	"reflect"
	"slices"
)

// Members is a set of values that are equal when they are deeply equal. Values
// whose type allows it are looked up by hash: a set field may hold thousands.
type Members struct {
	hashed map[any]struct{}
	others []any
}

// Add puts a value into the set and tells whether it was not there before.
func (m *Members) Add(v any) bool {
	if m.Has(v) {
		return false
	}
	if !plain(reflect.TypeOf(v)) {
		m.others = append(m.others, v)
		return true
	}
	if m.hashed == nil {
		m.hashed = map[any]struct{}{}
	}
	m.hashed[v] = struct{}{}
	return true
}

// Has tells whether the value is in the set.
func (m *Members) Has(v any) bool {
	if plain(reflect.TypeOf(v)) {
		_, ok := m.hashed[v]
		return ok
	}
	for _, o := range m.others {
		if reflect.DeepEqual(o, v) {
			return true
		}
	}
	return false
}

// plain tells whether == on values of the type means the same as deep equality:
// it holds no pointers, interfaces or numbers that differ from themselves.
func plain(t reflect.Type) bool {
	switch {
	case t == nil:
		return false
	case t == reflect.TypeFor[netip.Addr](), t == reflect.TypeFor[netip.Prefix]():
		return true // made to be compared, whatever is inside
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// Differ lists the members that only one of two slices has, each once and in their
// order. Values that are no slices have no members.
func Differ(a, b any) (onlyA, onlyB []any) {
	x, y, ok := texts(a, b)
	if !ok {
		p, q := elements(a), elements(b)
		return without(p, q), without(q, p)
	}
	// Thousands of machines before and after one of them has come are the same but
	// for a place in the middle.
	start, end := 0, 0
	for start < min(len(x), len(y)) && x[start] == y[start] {
		start++
	}
	for end < min(len(x), len(y))-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	if start+end == len(x) && start+end == len(y) {
		return nil, nil
	}
	inX, inY := x[start:len(x)-end], y[start:len(y)-end]
	if len(inX)+len(inY) > few {
		return lacking(x, setOf(y)), lacking(y, setOf(x))
	}
	return lacking(inX, listOf(y)), lacking(inY, listOf(x))
}

// few is how many members are rather looked for in a list than in a set that would
// have to be made of it.
const few = 8

func texts(a, b any) (x, y []string, ok bool) {
	x, first := a.([]string)
	y, second := b.([]string)
	return x, y, first && second
}

// lacking lists the members that are not there, each once.
func lacking(of []string, there func(string) bool) []any {
	var out []any
	told := map[string]struct{}{}
	for _, v := range of {
		if _, twice := told[v]; twice || there(v) {
			continue
		}
		told[v] = struct{}{}
		out = append(out, v)
	}
	return out
}

func setOf(list []string) func(string) bool {
	set := make(map[string]struct{}, len(list))
	for _, v := range list {
		set[v] = struct{}{}
	}
	return func(v string) bool { _, ok := set[v]; return ok }
}

func listOf(list []string) func(string) bool {
	return func(v string) bool { return slices.Contains(list, v) }
}

// without lists the members of a that are not in b, each once.
func without(a, b []any) []any {
	var seen Members
	for _, v := range b {
		seen.Add(v)
	}
	var out []any
	for _, v := range a {
		if seen.Add(v) {
			out = append(out, v)
		}
	}
	return out
}

func elements(v any) []any {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() || rv.Kind() != reflect.Slice {
		return nil
	}
	out := make([]any, rv.Len())
	for i := range out {
		out[i] = rv.Index(i).Interface()
	}
	return out
}
