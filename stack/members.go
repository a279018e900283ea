package stack

import (
	"net/netip"
	"reflect"
)

// Members is a set of values under deep equality. Values of comparable types are
// looked up by hash: a set field can hold thousands.
type Members struct {
	hashed map[any]struct{}
	others []any
}

// Add adds a value and reports whether it is new.
func (m *Members) Add(v any) bool {
	if m.Has(v) {
		return false
	}
	if !isComparable(reflect.TypeOf(v)) {
		m.others = append(m.others, v)
		return true
	}
	if m.hashed == nil {
		m.hashed = map[any]struct{}{}
	}
	m.hashed[v] = struct{}{}
	return true
}

// Has reports whether the value is in the set.
func (m *Members) Has(v any) bool {
	if isComparable(reflect.TypeOf(v)) {
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

// isComparable reports whether == on values of the type means the same as deep
// equality: it holds no pointers, interfaces or numbers that differ from themselves.
func isComparable(t reflect.Type) bool {
	switch {
	case t == nil:
		return false
	case t == reflect.TypeFor[netip.Addr](), t == reflect.TypeFor[netip.Prefix]():
		return true // comparable by design, whatever its fields
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Array:
		return isComparable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isComparable(t.Field(i).Type) {
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
	x, y := listOf(a), listOf(b)
	// Thousands of machines before and after an addition differ in one place in the
	// middle.
	start, end := 0, 0
	if x.comparableTo(y) {
		for start < min(x.n, y.n) && x.same(start, y, start) {
			start++
		}
		for end < min(x.n, y.n)-start && x.same(x.n-1-end, y, y.n-1-end) {
			end++
		}
	}
	if start+end == 0 || x.n+y.n-2*(start+end) > few {
		if x.onlyTexts() && y.onlyTexts() {
			return missingTexts(x.texts, y.texts), missingTexts(y.texts, x.texts)
		}
		p, q := x.values(), y.values()
		return missingValues(p, q), missingValues(q, p)
	}
	return x.lacking(start, x.n-end, y), y.lacking(start, y.n-end, x)
}

// few is the number of members up to which a scan is cheaper than building a set.
const few = 8

// list is a slice of any type, or empty.
type list struct {
	of    reflect.Value
	texts []string // the same, if it is of texts
	n     int
}

func listOf(v any) *list {
	l := &list{of: reflect.ValueOf(v)}
	if !l.of.IsValid() || l.of.Kind() != reflect.Slice {
		return &list{}
	}
	l.n = l.of.Len()
	l.texts, _ = v.([]string)
	return l
}

// comparableTo reports whether the members of both can be compared by ==.
func (l *list) comparableTo(m *list) bool {
	return l.n > 0 && m.n > 0 && l.of.Type() == m.of.Type() && isComparable(l.of.Type().Elem())
}

func (l *list) onlyTexts() bool { return l.n == 0 || l.texts != nil }

// missingTexts returns the texts that the other list lacks, each once.
func missingTexts(of, from []string) []any {
	if len(of) > 0 && len(from) == 0 && isAscending(of) { // as when thousands of machines are new
		out := make([]any, len(of))
		for i, v := range of {
			out[i] = v
		}
		return out
	}
	var out []any
	there := make(map[string]struct{}, len(from))
	for _, v := range from {
		there[v] = struct{}{}
	}
	for _, v := range of {
		if _, ok := there[v]; !ok {
			there[v] = struct{}{}
			out = append(out, v)
		}
	}
	return out
}

// isAscending reports whether the texts are in strictly ascending order.
func isAscending(list []string) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}

func (l *list) same(i int, m *list, j int) bool {
	if l.texts != nil {
		return l.texts[i] == m.texts[j]
	}
	return l.of.Index(i).Equal(m.of.Index(j))
}

// lacking returns the members of a part of the list that the other one lacks.
func (l *list) lacking(from, to int, other *list) []any {
	var out []any
	for i := from; i < to; i++ {
		there := false
		for j := 0; j < other.n && !there; j++ {
			there = l.same(i, other, j)
		}
		for j := from; j < i && !there; j++ {
			there = l.same(i, l, j)
		}
		if !there {
			out = append(out, l.of.Index(i).Interface())
		}
	}
	return out
}

func (l *list) values() []any {
	out := make([]any, l.n)
	for i := range out {
		out[i] = l.of.Index(i).Interface()
	}
	return out
}

// missingValues returns the members of a that are not in b, each once.
func missingValues(a, b []any) []any {
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
