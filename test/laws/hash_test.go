package laws

import (
	"hash/maphash"
	"net/netip"
	"reflect"
	"testing"

	"github.com/berth-lb/berth/stack"
)

// TestHashes: equal values have one hash, and no two different ones of these have.
func TestHashes(t *testing.T) {
	type spec struct {
		Name   string
		Wait   *int32
		Ranges []netip.Prefix
		Tags   map[string]string
		Weight float64
		Port   uint16
		Open   bool
	}
	seed := maphash.MakeSeed()
	values := func() []any {
		return []any{
			nil, "", "a", 1, true, spec{}, spec{Name: "a"}, spec{Wait: new(int32(1))}, spec{Wait: new(int32(2))}, spec{Ranges: []netip.Prefix{}},
			spec{Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, spec{Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/9")}},
			spec{Tags: map[string]string{"a": "b", "c": "d"}}, spec{Tags: map[string]string{"a": "d", "c": "b"}}, spec{Weight: 1}, spec{Port: 1}, spec{Open: true},
			stack.Resource{Spec: spec{}}, stack.Resource{Spec: "a"}, [2]string{"a", "bc"}, [2]string{"ab", "c"},
		}
	}
	once, again := values(), values()
	for i, a := range once {
		for j, b := range again {
			if equal := hashOf(seed, a) == hashOf(seed, b); equal != reflect.DeepEqual(a, b) {
				t.Errorf("%d %#v and %d %#v: equal hashes %v", i, a, j, b, equal)
			}
		}
	}
}
