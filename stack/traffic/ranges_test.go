package traffic

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// space is a small range, all of whose addresses a test can visit.
const space = "192.0.2.0/27"

func addressesOf(set []netip.Prefix) map[netip.Addr]bool {
	out := map[netip.Addr]bool{}
	all := netip.MustParsePrefix(space)
	for a := all.Addr(); all.Contains(a); a = a.Next() {
		for _, p := range set {
			if p.Contains(a) {
				out[a] = true
			}
		}
	}
	return out
}

func randomSet(rng *rand.Rand) []netip.Prefix {
	var out []netip.Prefix
	for range rng.IntN(5) {
		a := netip.AddrFrom4([4]byte{192, 0, 2, byte(rng.IntN(32))})
		out = append(out, netip.PrefixFrom(a, 27+rng.IntN(6)))
	}
	return out
}

// TestSets compares the set operations with sets of single addresses.
func TestSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		a, b := randomSet(rng), randomSet(rng)
		ma, mb := addressesOf(a), addressesOf(b)
		union, both, rest := addressesOf(Union(a, b)), addressesOf(Intersect(Union(a), Union(b))), addressesOf(Subtract(a, b))
		within := true
		all := netip.MustParsePrefix(space)
		for x := all.Addr(); all.Contains(x); x = x.Next() {
			within = within && (!mb[x] || ma[x])
			if union[x] != (ma[x] || mb[x]) || both[x] != (ma[x] && mb[x]) || rest[x] != (ma[x] && !mb[x]) {
				t.Fatalf("%v and %v differ at %s", a, b, x)
			}
		}
		if got := Contains(a, b); got != within {
			t.Fatalf("Contains(%v, %v) = %t, want %t", a, b, got, within)
		}
		if equal := slices.Equal(Union(a), Union(b)); equal != (within && Contains(b, a)) {
			t.Fatalf("%v and %v: equal sets must be equal slices", a, b)
		}
	}
}

func TestFamilies(t *testing.T) {
	set := Ranges("10.1.2.3/8", "2001:db8::1", "0.0.0.0/0", "nonsense")
	if got := Union(set); !slices.Equal(got, Ranges("0.0.0.0/0", "2001:db8::1/128")) {
		t.Errorf("union is %v", got)
	}
	if Contains(Everyone(IPv4), Ranges("2001:db8::/32")) || !Contains(Everyone(IPv6), Ranges("2001:db8::/32")) {
		t.Error("a range belongs to one family")
	}
	if got := Subtract(Everyone(IPv6), Ranges("8000::/1")); !slices.Equal(got, Ranges("::/1")) {
		t.Errorf("the rest is %v", got)
	}
	if got := OfFamily(set, IPv6); len(got) != 1 {
		t.Errorf("of IPv6: %v", got)
	}
}
