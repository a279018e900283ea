package laws

import (
	"hash/maphash"
	"reflect"
)

// hashOf returns a hash of values, which is the same for equal ones: what a pointer leads to
// counts, and not the pointer.
func hashOf(seed maphash.Seed, values ...any) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range values {
		writeHash(&h, reflect.ValueOf(v))
	}
	return h.Sum64()
}

// writeHash adds a value to a hash.
//
//nolint:gocyclo // One case for each kind of value.
func writeHash(h *maphash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		maphash.WriteComparable(h, -1)
	case reflect.String:
		maphash.WriteComparable(h, v.Len())
		_, _ = h.WriteString(v.String()) // never fails
	case reflect.Struct:
		for i := range v.NumField() {
			writeHash(h, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			maphash.WriteComparable(h, -1)
			return
		}
		maphash.WriteComparable(h, v.Len())
		for i := range v.Len() {
			writeHash(h, v.Index(i))
		}
	case reflect.Map:
		var sum uint64
		for key, value := range v.Seq2() {
			var entry maphash.Hash
			entry.SetSeed(h.Seed())
			writeHash(&entry, key)
			writeHash(&entry, value)
			sum += entry.Sum64()
		}
		maphash.WriteComparable(h, sum)
	case reflect.Pointer:
		maphash.WriteComparable(h, v.IsNil())
		writeHash(h, v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			maphash.WriteComparable(h, -1)
			return
		}
		_, _ = h.WriteString(v.Elem().Type().String()) // never fails
		writeHash(h, v.Elem())
	case reflect.Bool:
		maphash.WriteComparable(h, v.Bool())
	case reflect.Float32, reflect.Float64:
		maphash.WriteComparable(h, v.Float())
	default:
		if v.CanInt() {
			maphash.WriteComparable(h, v.Int())
			return
		}
		maphash.WriteComparable(h, v.Uint())
	}
}
