package stack

import (
	"fmt"
	"net/netip"
	"testing"
)

// TestMembers: equal means deeply equal, whether values can be hashed or not.
func TestMembers(t *testing.T) {
	type pair struct {
		Name string
		Port int32
	}
	type list struct{ Names []string }
	one, alike := 1, 1
	for _, tc := range []struct {
		name         string
		a, same, not any
	}{
		{"strings", "i-1", "i-1", "i-2"},
		{"structs", pair{"a", 1}, pair{"a", 1}, pair{"a", 2}},
		{"lists", list{[]string{"a"}}, list{[]string{"a"}}, list{[]string{"b"}}},
		{"pointers", &one, &alike, new(int)},
		{"addresses", netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::ffff:10.0.0.1")},
		{"types", int32(1), int32(1), int64(1)},
		{"nothing", nil, nil, ""},
		{"arrays", [2]pair{{"a", 1}}, [2]pair{{"a", 1}}, [2]pair{{"b", 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var m Members
			if m.Has(tc.a) {
				t.Errorf("an empty set has %v", tc.a)
			}
			if !m.Add(tc.a) || m.Add(tc.same) || !m.Has(tc.same) {
				t.Errorf("%v: want it added once and found", tc.a)
			}
			if m.Has(tc.not) || !m.Add(tc.not) {
				t.Errorf("%v counts as %v", tc.not, tc.a)
			}
		})
	}
}

// BenchmarkMembers is what a set field of a large cluster costs.
func BenchmarkMembers(b *testing.B) {
	var ids []any
	for i := range 5000 {
		ids = append(ids, fmt.Sprintf("i-%017x", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		var m Members
		for _, id := range ids {
			m.Add(id)
		}
	}
}
