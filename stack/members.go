package stack

import (
	"net/netip"
	"reflect"
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
