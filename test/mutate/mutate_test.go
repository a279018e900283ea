package mutate

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestBytes: changes are many, are the same for the same number, and leave the seed alone.
func TestBytes(t *testing.T) {
	seed := []byte("10.0.0.0/8, ::/0")
	first, second := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	different := map[string]bool{}
	for range 1000 {
		one, again := Bytes(first, seed), Bytes(second, seed)
		if !bytes.Equal(one, again) {
			t.Fatalf("%q and %q", one, again)
		}
		different[string(one)] = true
	}
	if len(different) < 500 || string(seed) != "10.0.0.0/8, ::/0" {
		t.Errorf("%d different ones of %q", len(different), seed)
	}
	if got := Bytes(first, nil); len(got) > 100 {
		t.Errorf("out of nothing: %d bytes", len(got))
	}
}

// FuzzAdd: what is added is run, as the types that it is of.
func FuzzAdd(f *testing.F) {
	runs := 0
	Add(f, 20, "a,b", []byte("x"), true, 3, int32(4), byte(5))
	f.Fuzz(func(_ *testing.T, _ string, _ []byte, _ bool, _ int, _ int32, place byte) {
		if place == 5 {
			runs++ // of a type that stays
		}
	})
	f.Cleanup(func() {
		if runs != 0 && runs < 21 {
			f.Errorf("%d runs", runs)
		}
	})
}
