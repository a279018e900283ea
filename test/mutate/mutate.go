package mutate

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// seedVariable is the environment variable with the number that chance begins with; the
// same number, the same changes. Without it every run tries the same.
const seedVariable = "FUZZ_SEED"

// Add adds a seed to a fuzz test, and, unless the fuzzer itself is at work, n changed
// ones. Arguments are as for testing.F.Add; single bytes stay as they are, since they are
// the places of cases.
func Add(f *testing.F, n int, args ...any) {
	f.Helper()
	f.Add(args...)
	if engine := flag.Lookup("test.fuzz"); engine != nil && engine.Value.String() != "" {
		return
	}
	chance := chanceOf(f, args)
	for range n {
		changed := make([]any, len(args))
		for i, a := range args {
			changed[i] = mutateArgument(chance, a)
		}
		f.Add(changed...)
	}
}

func chanceOf(t testing.TB, args []any) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%q", args) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// mutateArgument returns an argument of a fuzz test changed, or now and then as it is.
func mutateArgument(chance *rand.Rand, arg any) any {
	switch v := arg.(type) {
	case string:
		return string(Bytes(chance, []byte(v)))
	case []byte:
		return Bytes(chance, v)
	case bool:
		return chance.IntN(2) == 0
	case int:
		return mutateInt(chance, v)
	case int32:
		return int32(mutateInt(chance, int(v)))
	}
	return arg
}

func mutateInt(chance *rand.Rand, v int) int {
	return []int{v, 0, -1, v + 1, -v, 1 << 31, chance.IntN(1 << 17), chance.Int()}[chance.IntN(8)]
}

// Bytes returns a copy of data with up to four changes: bytes that are others, gone,
// there twice or new.
func Bytes(chance *rand.Rand, data []byte) []byte {
	out := slices.Clone(data)
	for range chance.IntN(5) {
		at := chance.IntN(len(out) + 1)
		to := min(len(out), at+1+chance.IntN(8))
		switch chance.IntN(5) {
		case 0:
			if at < len(out) {
				out[at] ^= 1 << chance.IntN(8)
			}
		case 1:
			out = slices.Delete(out, at, to)
		case 2:
			out = slices.Insert(out, at, slices.Clone(out[at:to])...)
		case 3:
			out = slices.Insert(out, at, []byte(oddWord(chance))...)
		case 4:
			out = slices.Insert(out, at, byte(chance.IntN(256)), byte(chance.IntN(256)))
		}
	}
	return out
}

// oddWord returns a text that is hard to parse.
func oddWord(chance *rand.Rand) string {
	words := []string{
		"\x00", "\xff", "\n", ",", "=", ":", "{", "}", "[", "]", "\"", "'", "%", "*", "-", "\\", "/0", "/129", "::", "0x", "1e999", "null", "true",
		"99999999999999999999", "-1", "0.0.0.0/0", "::/0", "&a", "*a", "---\n", "\u202e", "ä",
	}
	return words[chance.IntN(len(words))]
}
