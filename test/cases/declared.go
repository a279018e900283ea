package cases

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/annotations"
)

// KeysOf returns the names of all keys that are declared, none of them twice.
func KeysOf(set *annotations.Set) []string {
	var out []string
	for _, r := range annotations.Rows(set) {
		out = append(out, r.Key)
	}
	return out
}

// Ours reports whether a key is of our own domain.
func Ours(key string) bool { return strings.HasPrefix(key, "berth-lb.io/") }

// Declared fails unless the keys are those of testdata/keys.txt, which has every key that
// an official controller of the cloud reads.
func Declared(t *testing.T, keys []string) {
	t.Helper()
	official, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(official)), "\n")), slices.Sorted(slices.Values(keys))); d != "" {
		t.Errorf("keys (-official +declared):\n%s", d)
	}
}

// Described fails unless each key has a group and a source and declares what it names, and the kinds of load
// balancers that keys are for are these; none: whichever.
func Described(t *testing.T, set *annotations.Set, kinds ...string) {
	t.Helper()
	for _, r := range annotations.Rows(set) {
		if r.Group == "" || r.Source == "" {
			t.Errorf("%s: group %q, source %q", r.Key, r.Group, r.Source)
		}
		onService := r.On == annotations.ServiceAnnotation || r.On == annotations.ServiceLabel
		if onService && r.Writer != annotations.ByController && len(r.Names) == 0 {
			t.Errorf("%s: the declaration does not say what a value names; legal is a kind of thing, or nothing", r.Key)
		}
	}
	if d := cmp.Diff(kinds, set.Kinds()); d != "" && kinds != nil {
		t.Errorf("kinds (-want +got):\n%s", d)
	}
}
