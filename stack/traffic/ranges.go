package traffic

import (
	"net/netip"
	"slices"
)

// Everyone returns the range of all clients of a family.
func Everyone(f Family) []netip.Prefix {
	if f == IPv6 {
		return []netip.Prefix{netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	}
	return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}
}

// Ranges parses texts such as "10.0.0.0/8" or "10.0.0.1". A text that is neither is left
// out: no cloud accepts it.
func Ranges(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Masked())
		} else if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a.WithZone(""), a.BitLen()))
		}
	}
	return out
}

// OfFamily returns the ranges of a family.
func OfFamily(set []netip.Prefix, f Family) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range set {
		if FamilyOf(p.Addr()) == f {
			out = append(out, p)
		}
	}
	return out
}

// Union returns the clients of any of the sets: masked, in order, none within another,
// and neighbours merged, so that equal sets are equal slices.
func Union(sets ...[]netip.Prefix) []netip.Prefix {
	if len(sets) == 1 && len(sets[0]) == 1 && sets[0][0] == sets[0][0].Masked() {
		return sets[0]
	}
	var all []netip.Prefix
	for _, set := range sets {
		for _, p := range set {
			all = append(all, p.Masked())
		}
	}
	slices.SortFunc(all, comparePrefixes)
	var out []netip.Prefix
	for _, p := range all {
		if n := len(out); n == 0 || !coversRange(out[n-1], p) {
			out = mergeHalves(append(out, p))
		}
	}
	return out
}

// mergeHalves replaces the last two ranges by one while they are its halves.
func mergeHalves(set []netip.Prefix) []netip.Prefix {
	for n := len(set); n >= 2; n = len(set) {
		a, b := set[n-2], set[n-1]
		if a.Bits() != b.Bits() || a.Bits() == 0 || a.Addr().BitLen() != b.Addr().BitLen() {
			break
		}
		whole := netip.PrefixFrom(a.Addr(), a.Bits()-1).Masked()
		if !whole.Contains(b.Addr()) {
			break
		}
		set = append(set[:n-2], whole)
	}
	return set
}

// Intersect returns the clients that are in both sets.
func Intersect(a, b []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range a {
		for _, q := range b {
			switch {
			case coversRange(p, q):
				out = append(out, q)
			case coversRange(q, p):
				out = append(out, p)
			}
		}
	}
	return Union(out)
}

// Subtract returns the clients of the first set that are not in the second.
func Subtract(a, b []netip.Prefix) []netip.Prefix {
	left := Union(a)
	for _, q := range b {
		var rest []netip.Prefix
		for _, p := range left {
			rest = append(rest, cutRange(p, q)...)
		}
		left = rest
	}
	return Union(left)
}

// Contains reports whether the first set has all clients of the second.
func Contains(set, of []netip.Prefix) bool {
	for _, p := range of {
		if !slices.ContainsFunc(set, func(q netip.Prefix) bool { return coversRange(q, p) }) && len(Subtract([]netip.Prefix{p}, set)) > 0 {
			return false
		}
	}
	return true
}

// coversRange reports whether all of a range is in another one.
func coversRange(p, q netip.Prefix) bool {
	return p.Bits() <= q.Bits() && p.Contains(q.Addr())
}

// cutRange returns the ranges of p that are outside q.
func cutRange(p, q netip.Prefix) []netip.Prefix {
	switch {
	case coversRange(q, p):
		return nil
	case !coversRange(p, q):
		return []netip.Prefix{p}
	}
	var out []netip.Prefix
	for p.Bits() < q.Bits() {
		low, high := splitRange(p)
		if coversRange(low, q) {
			out, p = append(out, high), low
		} else {
			out, p = append(out, low), high
		}
	}
	return out
}

// splitRange cuts a range in two.
func splitRange(p netip.Prefix) (low, high netip.Prefix) {
	bits := p.Bits() + 1
	low = netip.PrefixFrom(p.Masked().Addr(), bits)
	bytes := low.Addr().AsSlice()
	bytes[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	upper, _ := netip.AddrFromSlice(bytes) // as long as it was
	return low, netip.PrefixFrom(upper, bits)
}

func comparePrefixes(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}
