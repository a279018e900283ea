package stack

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestDiffer: the short ways find what comparing every member with every other does.
func TestDiffer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list := func(n int) []string {
		out := make([]string, random.IntN(n))
		for i := range out {
			out[i] = strconv.Itoa(random.IntN(n))
		}
		return out
	}
	changed := func(of []string) []string {
		out := slices.Clone(of)
		for range random.IntN(3) {
			at := random.IntN(len(out) + 1)
			out = slices.Insert(out, at, strconv.Itoa(random.IntN(40)))
		}
		for range min(random.IntN(3), len(out)) {
			at := random.IntN(len(out))
			out = slices.Delete(out, at, at+1)
		}
		return out
	}
	type thing struct{ Name, Address string }
	things := func(names []string) []thing {
		out := make([]thing, len(names))
		for i, n := range names {
			out[i] = thing{n, "10.0.0." + n}
		}
		return out
	}
	for range 5000 {
		a := list(40)
		b := changed(a)
		switch random.IntN(8) {
		case 0, 1:
			b = list(40)
		case 2:
			slices.Sort(a)
			a, b = slices.Compact(a), nil
		}
		for _, pair := range [][2]any{{a, b}, {things(a), things(b)}} {
			p, q := listOf(pair[0]).values(), listOf(pair[1]).values()
			wantA, wantB := missingValues(p, q), missingValues(q, p)
			gotA, gotB := Differ(pair[0], pair[1])
			if diff := cmp.Diff([][]any{wantA, wantB}, [][]any{gotA, gotB}); diff != "" {
				t.Fatalf("%v and %v (-want +got):\n%s", pair[0], pair[1], diff)
			}
		}
	}
}

// TestDifferOfOtherLists: members need not be texts, and nothing has none.
func TestDifferOfOtherLists(t *testing.T) {
	type list struct{ Names []string }
	for _, tc := range []struct {
		name         string
		a, b         any
		onlyA, onlyB []any
	}{
		{"structs", []list{{[]string{"a"}}, {[]string{"b"}}}, []list{{[]string{"b"}}, {[]string{"c"}}, {[]string{"c"}}}, []any{list{[]string{"a"}}}, []any{list{[]string{"c"}}}},
		{"nothing and texts", nil, []string{"a", "a"}, nil, []any{"a"}},
		{"no list", 1, []string{}, nil, nil},
	} {
		gotA, gotB := Differ(tc.a, tc.b)
		if diff := cmp.Diff([][]any{tc.onlyA, tc.onlyB}, [][]any{gotA, gotB}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// BenchmarkDiffer is what one machine that joins costs a Service of a large cluster.
func BenchmarkDiffer(b *testing.B) {
	var ids []string
	for i := range 5000 {
		ids = append(ids, fmt.Sprintf("i-%017x", i))
	}
	before := slices.Delete(slices.Clone(ids), 2500, 2501)
	b.ReportAllocs()
	for b.Loop() {
		Differ(ids, before)
	}
}
