package model

import (
	"net/netip"
	"testing"
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
