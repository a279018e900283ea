package model

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func prefixesOf(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// TestClients is the truth table of permitted clients.
func TestClients(t *testing.T) {
	all, some := prefixesOf("0.0.0.0/0"), prefixesOf("10.0.0.0/8")
	tags := []string{"AzureCloud"}
	type answer struct {
		Open, Deny bool
		Ranges     int
	}
	tests := []struct {
		name          string
		kind          string
		tags          []string
		spec, allowed []netip.Prefix
		deny          bool
		want          answer
	}{
		{"public", Public, nil, nil, nil, false, answer{Open: true}},
		{"internal", Internal, nil, nil, nil, false, answer{}},
		{"internal, all in the field", Internal, nil, all, nil, false, answer{Ranges: 1}},
		{"internal, all in the annotation", Internal, nil, nil, all, false, answer{Ranges: 1}},
		{"public, all", Public, nil, all, nil, false, answer{Ranges: 1}},
		{"public, some", Public, nil, some, nil, false, answer{Ranges: 1}},
		{"public, tags", Public, tags, nil, nil, false, answer{}},
		{"public, tags and some", Public, tags, nil, some, false, answer{Ranges: 1}},
		{"deny with ranges", Public, nil, nil, some, true, answer{Ranges: 1, Deny: true}},
		{"deny without ranges", Public, nil, nil, nil, true, answer{Open: true}},
		{"deny with tags alone", Public, tags, nil, nil, true, answer{}},
	}
	for _, tt := range tests {
		w := permittedClients(tt.kind, tt.tags, tt.spec, tt.allowed, tt.deny)
		if got := (answer{w.open, w.deny, len(w.ranges)}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestMergeRanges(t *testing.T) {
	tests := []struct{ in, want []netip.Prefix }{
		{prefixesOf("10.0.0.0/9", "10.128.0.0/9"), prefixesOf("10.0.0.0/8")},
		{prefixesOf("10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8"), prefixesOf("10.0.0.0/8")},
		{prefixesOf("10.0.1.0/24", "10.0.2.0/24"), prefixesOf("10.0.1.0/24", "10.0.2.0/24")},
		{prefixesOf("10.0.3.0/24", "10.0.0.0/24", "10.0.2.0/24", "10.0.1.0/24"), prefixesOf("10.0.0.0/22")},
		{prefixesOf("0.0.0.0/1", "128.0.0.0/1"), prefixesOf("0.0.0.0/0")},
		{prefixesOf("::/0", "0.0.0.0/0", "2001:db8::/32"), prefixesOf("0.0.0.0/0", "::/0")},
		{prefixesOf("2001:db8::/33", "2001:db8:8000::/33"), prefixesOf("2001:db8::/32")},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, mergeRanges(tt.in), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.in, d)
		}
	}
}

// TestMergeRangesHoldsTheSame: merged ranges hold exactly the same addresses.
func TestMergeRangesHoldsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	holds := func(list []netip.Prefix, a netip.Addr) bool {
		for _, p := range list {
			if p.Contains(a) {
				return true
			}
		}
		return false
	}
	for range 300 {
		var in []netip.Prefix
		for range 1 + rng.IntN(12) {
			a := netip.AddrFrom4([4]byte{10, 0, byte(rng.IntN(4)), byte(rng.IntN(256))})
			in = append(in, netip.PrefixFrom(a, 20+rng.IntN(13)).Masked())
		}
		out := mergeRanges(in)
		for range 200 {
			a := netip.AddrFrom4([4]byte{10, 0, byte(rng.IntN(6)), byte(rng.IntN(256))})
			if holds(in, a) != holds(out, a) {
				t.Fatalf("%v became %v, which differs at %s", in, out, a)
			}
		}
	}
}
